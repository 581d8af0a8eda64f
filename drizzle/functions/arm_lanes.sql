-- Turns arrivals that this transaction has taken (take_arrivals) into due lanes; it waits for nobody. The answers that arrivals
-- report move a lane's window if it was full, or if the receiver refused or stayed silent (next_window.sql,
-- src/delivery/queue/answers.ts).
-- An arrival of the kind `due` makes its lane due, unless the lane is saturated. `look` has the lane look at everything again,
-- from the very first delivery on, saturated or not. `slot_free` and `slot_free_silent` wake it only if it is saturated.
-- A muted lane stays asleep. The SET asks for that, not the WHERE: there `muted_at is null` would divide the row estimate by 200
-- while a table has no statistics, and the planner would arm in another order.
-- The arrivals of a lane that another transaction has locked are inserted again, without the deliveries that they named, for
-- the next turn.
create or replace function arm_lanes(came arrivals[], moment timestamptz) returns void
  language plpgsql volatile set search_path from current
as $$
begin
  with arrived as materialized (
    select webhook_id, partner_id, due_at, looks, has_free_slot, is_silent, good, bad, good_ms
    from arrivals_by_lane(came)
    order by due_at, webhook_id
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
        held.max_in_flight, held.in_flight, is_silent, good, bad, good_ms,
        held.window_size, held.quick_to, held.answers, held.answers_ms, held.best_ms
      ) n
      where is_silent or bad > 0
         or has_free_slot and held.in_flight >= floor(least(held.window_size, held.max_in_flight))
    ) next on held.ctid is not null
  ),
  armed as (
    update lanes l
    set version = l.version + 1,
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
  )
  insert into arrivals (webhook_id, partner_id, kind, due_at, good, bad, good_ms)
  select webhook_id, partner_id, part.*
  from found
  cross join lateral told_again(looks, found.due_at, has_free_slot, is_silent, good, bad, good_ms) part
  where part.kind is not null and not is_held;
end
$$;
