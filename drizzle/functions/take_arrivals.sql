-- Takes the arrivals that came since this session last took some, `at_most` of them; null: none, or another poller is taking.
-- In the same transaction the caller claims what each names, arms its lane, or inserts it again (take_turn, arm_lanes).
-- src/delivery/queue/arrivals.ts has the invariant of the session's memory, which is rolled back with its transaction.
-- One poller takes at a time, until its commit; the others go on to the lanes that are due.
-- Arrivals are returned as rows of their table: `returning *` made records of no type, which an array of arrivals takes through
-- their text, for a sixth of the claim of a delivery that has an arrival.
create or replace function take_arrivals(at_most bigint) returns arrivals[]
  language plpgsql volatile set search_path from current
as $$
declare
  before constant pg_snapshot := arrivals_taken();
  -- Taken before the statements below take their own snapshots, which therefore see at least as much; and before this
  -- transaction has a number.
  seen constant pg_snapshot := pg_current_snapshot();
  running xid8[] := '{}';
  late arrivals[];
  next arrivals[];
  last_tx xid8;
  -- Assigned, though nobody reads it: `perform` would start a statement, for 1 us.
  remembered text;
begin
  if not pg_try_advisory_xact_lock(advisory_lock('arming')) then
    return null;
  end if;
  if pg_snapshot_xmin(before) < pg_snapshot_xmax(before) then
    running := array(select pg_snapshot_xip(before));
    with gone as (
      delete from arrivals
      where ctid = any (array(select ctid from arrivals where tx = any (running) limit at_most))
      returning arrivals as told
    )
    select array_agg(told) into late from gone;
    at_most := at_most - coalesce(cardinality(late), 0);
  end if;
  with gone as (
    delete from arrivals
    where ctid = any (array(select ctid from arrivals where tx >= pg_snapshot_xmax(before) order by tx limit at_most))
    returning arrivals as told
  )
  select array_agg(told), max((told).tx) into next, last_tx from gone;

  if coalesce(cardinality(next), 0) < at_most then
    remembered := set_config('carteiro.taken', seen::text, false);
  elsif at_most > 0 then
    last_tx := least(last_tx, pg_snapshot_xmax(seen));
    remembered := set_config(
      'carteiro.taken',
      format('%s:%s:%s', least(pg_snapshot_xmin(seen), last_tx), last_tx,
             (select string_agg(xip::text, ',' order by xip) from pg_snapshot_xip(seen) xip where xip < last_tx)),
      false);
  end if;
  return late || next;
end
$$;
