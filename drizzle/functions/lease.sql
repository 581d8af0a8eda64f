-- How long a claim is its poller's: a claim that was made at or before `now() - lease()` is over, and whoever finds it ends
-- it. A poller is told it with each claim, and counts the same time on its own clock (src/delivery/queue/lease.ts). It becomes
-- part of the statements that ask; a session that has planned one hears of a change and plans it anew.
create or replace function lease() returns interval
  language sql stable parallel safe
return interval '{{LEASE_S}} seconds';
