-- How long a claim is its poller's: a claim that was made at or before `now() - lease()` is over, and whoever finds it ends it.
-- A poller gets the lease with each claim, and counts it on its own clock (src/delivery/queue/lease.ts). PostgreSQL takes the
-- function into the statements that call it; a session that has planned one plans it anew after a change.
create or replace function lease() returns interval
  language sql stable parallel safe
return interval '{{LEASE_S}} seconds';
