-- Finds and locks up to `at_most` due deliveries of the lanes at `places`, which the caller has locked: `quantum` of each at most, and
-- no more than it has free slots. Found delivery i is `ids[i]` of partner `partners[i]`, due at `dues[i]`, of the lane at
-- `places[turns[i]]`. It is not for this poller if `are_within[i]` is false (within_share.sql; a null `are_within`: all are).
-- Of a lane in order only those are found that are `allowed` (hold_back.sql).
-- Once enough are found, the other lanes are not looked at. When each claim of 64 looked at all of 100 due lanes, it took a
-- fifth more.
-- Deliveries are found by their lane's partner too; their messages are not. With the partner in that join, and old statistics, the
-- planner took the events' index by partner: 250 us a delivery instead of 70, and more with each event.
create or replace function find_due(
  places tid[], moment timestamptz, at_most bigint, quantum bigint, allowed uuid[], reserve int, holders uuid[], held int[],
  out turns bigint[], out ids uuid[], out dues timestamptz[], out partners uuid[], out are_within boolean[]
)
  language plpgsql volatile set search_path from current
as $$
declare
  n bigint;
begin
  select array_agg(found.turn), array_agg(found.id), array_agg(found.next_attempt_at), array_agg(found.partner_id)
  into turns, ids, dues, partners
  from (
    select lane.turn, l.partner_id, d.*
    from unnest(places) with ordinality as lane (place, turn)
    join lanes l on l.ctid = lane.place
    cross join lateral state_of_lane(l, moment) now
    cross join lateral (
      select d.id, d.next_attempt_at
      from deliveries d
      where d.webhook_id = l.webhook_id and d.partner_id = l.partner_id and d.status = 'pendente' and d.claimed_at is null
        and d.next_attempt_at between l.scan_from and moment
        and (not l.in_order or d.id = any (allowed))
      order by d.next_attempt_at
      limit greatest(least(now.slots, quantum), 0)
      for update skip locked
    ) d
    limit at_most
  ) found;
  n := coalesce(cardinality(ids), 0);
  -- A share shrinks from each delivery to the next: who keeps within the last one keeps within all.
  if n > 0 and (held <> '{}' or n > partner_share(at_most - n, reserve)) and exists (
    select from (select unnest(holders || partners) as partner_id, unnest(held || array_fill(1, array[n::int])) as slots) each
    group by partner_id
    having sum(slots) > partner_share(at_most - n, reserve)
  ) then
    are_within := within_share(partners, at_most, reserve, holders, held);
  end if;
end
$$;
