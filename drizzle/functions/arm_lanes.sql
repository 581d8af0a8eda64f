-- Turns up to `at_most` arrivals into due lanes, and returns how many; it waits for nobody. A webhook that did not answer
-- gets one slot, and all of them again with its next answer (src/delivery/arrivals.ts).
create or replace function arm_lanes(at timestamptz, at_most bigint) returns bigint
  language plpgsql volatile set search_path from current
as $$
declare
  moment constant timestamptz := coalesce(at, now());
  before constant pg_snapshot := arrivals_taken();
  -- Before the snapshot of the turn, which sees all that this one sees; and before this transaction has a number.
  seen constant pg_snapshot := pg_current_snapshot();
  running constant xid8[] := array(select pg_snapshot_xip(before));
  late_ones bigint;
  next_ones bigint;
  last_tx xid8;
begin
  if current_setting('carteiro.known_server', true) is distinct from 'yes' then
    perform refuse_strange_server();
  end if;
  if not pg_try_advisory_xact_lock(advisory_lock('arming')) then
    return 0;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  with late as materialized (
    select ctid as place from arrivals where tx = any (running) limit at_most
  ),
  next as materialized (
    select ctid as place, tx
    from arrivals
    where tx >= pg_snapshot_xmax(before)
    order by tx
    limit at_most - (select count(*) from late)
  ),
  taken as (
    delete from arrivals a
    using (select place from late union all select place from next) arrived
    where a.ctid = arrived.place
    returning a.webhook_id, a.due_at, a.silent
  ),
  arrived as materialized (
    select webhook_id, min(due_at) as due_at, bool_or(due_at is null) as has_free_place,
           bool_or(coalesce(due_at, '-infinity') = '-infinity') as wakes, coalesce(bool_or(silent), false) as is_silent
    from taken
    group by webhook_id
  ),
  found as materialized (
    select arrived.*, newest.place, held.place is not null as is_held,
           case when is_silent then 1 when not has_free_place then held.window_size end as window_size
    from arrived
    cross join lateral (
      select ctid as place from lanes where lanes.webhook_id = arrived.webhook_id order by version desc limit 1
    ) newest
    left join lateral (
      select l.ctid as place, l.window_size from lanes l where l.ctid = newest.place for update skip locked
    ) held on held.place = newest.place
  ),
  armed as (
    update lanes l
    set version = l.version + 1,
        next_due_at = case when l.saturated and not found.wakes then l.next_due_at else least(l.next_due_at, moment) end,
        saturated = l.saturated and not found.wakes,
        scan_from = least(l.scan_from, found.due_at),
        window_size = found.window_size
    from found
    where found.is_held and l.ctid = found.place
      and (found.due_at < l.scan_from
           or found.window_size is distinct from l.window_size
           or case when l.saturated then found.wakes
                   else found.due_at is not null and (l.next_due_at > moment) is not false end)
  ),
  put_back as (
    insert into arrivals (webhook_id, due_at, silent)
    select webhook_id, part.due_at, case when part.due_at is null then nullif(is_silent, false) end
    from found
    cross join unnest(
      case when due_at is null or not has_free_place then array[due_at] else array[due_at, null] end
    ) as part (due_at)
    where not is_held
  )
  select (select count(*) from late), (select count(*) from next), (select max(tx) from next)
  into late_ones, next_ones, last_tx;

  if late_ones + next_ones < at_most then
    perform set_config('carteiro.taken', seen::text, false);
  elsif late_ones < at_most then
    last_tx := least(last_tx, pg_snapshot_xmax(seen));
    perform set_config(
      'carteiro.taken',
      format('%s:%s:%s', least(pg_snapshot_xmin(seen), last_tx), last_tx,
             (select string_agg(xip::text, ',' order by xip) from pg_snapshot_xip(seen) xip where xip < last_tx)),
      false);
  end if;
  return late_ones + next_ones;
end
$$;
