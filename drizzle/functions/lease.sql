-- How long a claim is its poller's: a claim that was made at or before `now() - lease()` is over, and whoever finds it ends
-- it. A poller is told it with each claim, and counts the same time on its own clock (src/delivery/queue/lease.ts). Stable,
-- not immutable: a session that has planned a statement with it must hear of a change.
create or replace function lease() returns interval
  language plpgsql stable parallel safe set search_path from current
as $$
begin
  return interval '45 seconds';
end
$$;
