-- How long a claim is its poller's: a claim that was made at or before `now() - lease()` is over, and whoever finds it ends
-- it. A poller counts the same time on its own clock (LEASE_S in src/delivery/queue/lease.ts; a test compares them).
create or replace function lease() returns interval
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return interval '45 seconds';
end
$$;
