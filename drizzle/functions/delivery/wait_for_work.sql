-- Waits for work of a poller (poll_lanes): new rows of `pending`, a lane of its own that has changed, or that `wake_at` comes. It looks
-- each `nap_ms`, unless no transaction has ended since its last look. Returns null when there is something new; else the
-- snapshot up to which there was nothing.
-- A look costs 10 us. While an event is being appended, it waits for the end of that transaction instead of sleeping.
create or replace function wait_for_work(
  p_poller text, at timestamptz, after xid8, running xid8[], wake_at timestamptz, patience_ms float8, nap_ms float8
)
  returns text
  language plpgsql volatile set search_path from current
as $$
declare
  appending constant bigint := advisory_lock('appending');
  give_up_at constant timestamptz := clock_timestamp() + patience_ms * interval '1 millisecond';
  -- The snapshot before a look: a commit during the look changes it, so the next nap ends in another one.
  seen text;
  looked_at text;
  -- Assigned: `perform` would start a statement, for 1 us.
  done boolean;
begin
  loop
    seen := pg_current_snapshot();
    if seen is distinct from looked_at then
      if exists (select from pending where tx >= after) or running <> '{}' and exists (select from pending where tx = any (running)) then
        return null;
      end if;
      -- One that somebody else holds locked can't be read yet.
      if patience_ms is null or exists (select from lanes where keeper = p_poller and changed for update skip locked) then
        return seen;
      end if;
      looked_at := seen;
    end if;
    if clock_timestamp() >= give_up_at or coalesce(at, clock_timestamp()) >= wake_at then
      return seen;
    end if;
    -- One expression: no cancellation comes between the two calls.
    if (case when pg_try_advisory_lock(appending) then pg_advisory_unlock(appending) else false end) then
      done := pg_sleep(nap_ms / 1000) is null;
      continue;
    end if;
    -- Undone however it ends, so it keeps neither the lock nor the time-out, which is rounded up to a whole millisecond.
    begin
      done := set_config('lock_timeout', greatest(ceil(nap_ms), 1)::text, true) is null;
      done := pg_advisory_xact_lock(appending) is null;
      raise sqlstate 'CT001';
    exception when lock_not_available or sqlstate 'CT001' then
      null;
    end;
  end loop;
end
$$;
