-- Turns up to `at_most` arrivals into due lanes, and returns how many; it waits for nobody. The answers that arrivals report
-- move a lane's window if it was full, or if the receiver refused or stayed silent (next_window.sql,
-- src/delivery/queue/answers.ts).
-- By its kind an arrival makes its lane due, unless the lane is saturated (`due`); has it look at everything again, from the
-- very first delivery on, saturated or not (`look`); or wakes it only if it is saturated (`slot_free`, `slot_free_silent`).
create or replace function arm_lanes(at timestamptz, at_most bigint) returns bigint
  language plpgsql volatile set search_path from current
as $$
declare
  moment constant timestamptz := coalesce(at, now());
  before constant pg_snapshot := arrivals_taken();
  -- Taken before the statement below takes its own snapshot, which therefore sees at least as much; and before this transaction
  -- has a number.
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
    select ctid from arrivals where tx = any (running) limit at_most
  ),
  next as materialized (
    select ctid, tx
    from arrivals
    where tx >= pg_snapshot_xmax(before)
    order by tx
    limit at_most - (select count(*) from late)
  ),
  taken as (
    delete from arrivals a
    using (select ctid from late union all select ctid from next) arrived
    where a.ctid = arrived.ctid
    returning a.webhook_id, a.partner_id, a.kind, a.due_at, a.good, a.bad, a.good_ms
  ),
  arrived as materialized (
    select webhook_id, partner_id, min(due_at) as due_at, bool_or(kind = 'look') as looks,
           bool_or(kind in ('slot_free', 'slot_free_silent')) as has_free_slot, bool_or(kind = 'slot_free_silent') as is_silent,
           coalesce(sum(good), 0) as good, coalesce(sum(bad), 0) as bad, coalesce(sum(good_ms), 0) as good_ms
    from taken
    group by webhook_id, partner_id
  ),
  found as materialized (
    select arrived.*, newest.ctid, held.ctid is not null as is_held, looks or has_free_slot as wakes,
           next.window_size, next.quick_to, next.answers, next.answers_ms, next.best_ms
    from arrived
    cross join lateral (
      select ctid from lanes l
      where l.webhook_id = arrived.webhook_id and l.partner_id = arrived.partner_id
      order by version desc limit 1
    ) newest
    left join lateral (
      select l.ctid, l.max_in_flight, l.in_flight, l.window_size, l.quick_to, l.answers, l.answers_ms, l.best_ms
      from lanes l where l.ctid = newest.ctid for update skip locked
    ) held on held.ctid = newest.ctid
    left join lateral (
      select n.*
      from next_window(
        held.max_in_flight, held.in_flight, is_silent, good::bigint, bad::bigint, good_ms,
        held.window_size, held.quick_to, held.answers, held.answers_ms, held.best_ms
      ) n
      where is_silent or bad > 0
         or has_free_slot and held.in_flight >= floor(least(held.window_size, held.max_in_flight))
    ) next on held.ctid is not null
  ),
  armed as (
    update lanes l
    set version = l.version + 1,
        -- A muted lane stays asleep. Not in the WHERE: without statistics `is null` divides its row estimate by 200, and the
        -- planner then arms in another order.
        next_due_at = case when l.muted_at is not null then null
                           when l.saturated and not found.wakes then l.next_due_at else least(l.next_due_at, moment) end,
        saturated = l.saturated and not found.wakes,
        scan_from = case when found.looks then '-infinity' else least(l.scan_from, found.due_at) end,
        window_size = coalesce(found.window_size, l.window_size),
        quick_to = case when found.window_size is null then l.quick_to else found.quick_to end,
        answers = coalesce(found.answers, l.answers),
        answers_ms = coalesce(found.answers_ms, l.answers_ms),
        best_ms = coalesce(found.best_ms, l.best_ms)
    from found
    where found.is_held and l.ctid = found.ctid
      and (found.due_at < l.scan_from
           or found.looks and l.scan_from > '-infinity'
           or (found.window_size, found.answers, found.answers_ms) <> (l.window_size, l.answers, l.answers_ms)
           or case when l.saturated then found.wakes
                   else (found.looks or found.due_at is not null) and (l.next_due_at > moment) is not false end)
  ),
  put_back as (
    insert into arrivals (webhook_id, partner_id, kind, due_at, good, bad, good_ms)
    select webhook_id, partner_id, part.*
    from found
    cross join lateral (
      values (case when looks then 'look'::arrival_kind when found.due_at is not null then 'due' end,
              case when not looks then found.due_at end, null::int, null::int, null::real),
             (case when is_silent then 'slot_free_silent'::arrival_kind when has_free_slot then 'slot_free' end, null,
              good, bad, good_ms)
    ) as part (kind, due_at, good, bad, good_ms)
    where part.kind is not null and not is_held
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
