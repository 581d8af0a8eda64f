-- As wait_for_work, for a poller that is not the first of those that live: it takes only work that has waited for `lag_ms`,
-- because the first poller is then busy, full, frozen or dead. So the work gathers with few pollers, whose claims are large,
-- and the others hardly look. Work is a lane that has been due for `lag_ms`, or a delivery that arrived `lag_ms` ago; and any
-- arrival that an earlier look of this wait saw, `lag_ms` ago or as long as the whole wait may last, and that still is there.
-- A statement of its own, without a transaction around it: a wait in vain wakes its process once.
-- Crash: nothing is written but the session's memory of arrivals, which moves on while there are none.
create or replace function wait_behind_others(
  at timestamptz, patience_ms float8, nap_ms float8, lag_ms float8, due_from timestamptz, sated uuid[]
)
  returns boolean
  language plpgsql volatile set search_path from current
as $$
declare
  lag constant interval := lag_ms * interval '1 millisecond';
  patience constant interval := patience_ms * interval '1 millisecond';
  give_up_at constant timestamptz := clock_timestamp() + patience;
  after constant xid8 := pg_snapshot_xmax(arrivals_taken());
  running constant xid8[] := array(select pg_snapshot_xip(arrivals_taken()));
  moment timestamptz;
  -- A snapshot in which there were arrivals, and the time of it.
  seen pg_snapshot;
  seen_at timestamptz;
  -- Assigned: `perform` would start a statement (take_arrivals.sql).
  done boolean;
begin
  loop
    moment := coalesce(at, clock_timestamp()) - lag;
    if exists (select from lanes where next_due_at between due_from and moment and partner_id <> all (sated))
       or exists (select from arrivals where tx >= after and kind = 'due' and due_at <= moment)
       or exists (select from arrivals where tx = any (running) and kind = 'due' and due_at <= moment)
    then
      return true;
    end if;
    if seen is null then
      -- Taken before the look that it is true of.
      seen := pg_current_snapshot();
      seen_at := clock_timestamp();
      if not exists (select from arrivals where tx >= after) and not exists (select from arrivals where tx = any (running)) then
        done := set_config('carteiro.taken', seen::text, false) is null;
        seen := null;
      end if;
    elsif clock_timestamp() >= seen_at + least(lag, patience) then
      if exists (
        select
        from (select * from arrivals where tx >= after union all select * from arrivals where tx = any (running)) a
        where pg_visible_in_snapshot(a.tx, seen)
          and (a.kind in ('due', 'look')
               or (select saturated from lanes l where l.webhook_id = a.webhook_id order by version desc limit 1))
      ) then
        return true;
      end if;
      seen := null;
    end if;
    if clock_timestamp() >= give_up_at then
      return false;
    end if;
    done := pg_sleep(nap_ms / 1000) is null;
  end loop;
end
$$;
