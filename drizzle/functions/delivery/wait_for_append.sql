-- Waits until no transaction holds the lock `appending`, or for `nap_ms`, rounded up to a whole millisecond; true, always. It keeps
-- neither the lock nor the time-out: its block is undone, however it ends.
create or replace function wait_for_append(appending bigint, nap_ms float8) returns boolean
  language plpgsql volatile set search_path from current
as $$
declare
  -- Assigned: `perform` would start a statement (wait_for_work.sql).
  done boolean;
begin
  done := set_config('lock_timeout', greatest(ceil(nap_ms), 1)::text, true) is null;
  done := pg_advisory_xact_lock(appending) is null;
  raise sqlstate 'CT001' using message = 'appended';
exception when lock_not_available or sqlstate 'CT001' then
  return true;
end
$$;
