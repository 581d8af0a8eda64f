-- A claim made at or before `now() - lease()` is over, and any poller ends it. A poller gets the lease with each claim and counts it on its
-- own clock (src/delivery/queue/lease.ts). Inlined; sessions plan anew after a change.
create or replace function lease() returns interval
  language sql stable parallel safe
return interval '{{LEASE_S}} seconds';
