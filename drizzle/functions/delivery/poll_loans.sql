-- The part of a poll (poll_lanes) on lanes in order; src/delivery/queue/lanes/kept-loans.ts has the invariant. `asks`:
--   asks     each reads a lane on behind a place, as poll_lanes's `hooks` (`loan` is null), or takes a loan's next delivery
--   busy     loans with one in flight, by webhook
--   flying   what is in flight of these lanes
-- It judges a bounded number per lane and skips what waits for another of its loan. Returns what poll_lanes does, and for each ask how far
-- it read (`told` is `read`: `number` the ask, `event` and `due_at` the place, `loan_version` 1 if there may be more, `is_test` whether it
-- skipped anything).
create or replace function poll_loans(p_poller text, p_number bigint, p_done_below bigint, at timestamptz, moment timestamptz, asks json)
  returns table (
    id uuid, number int, webhook_id uuid, event text, body bytea, loan_version int, traceparent text, salt bytea, is_test boolean,
    due_at text, told text
  )
  language plpgsql volatile set search_path from current
as $$
#variable_conflict use_column
declare
  at_once constant int := 64;
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
  flying constant uuid[] := array(select json_array_elements_text(asks -> 'flying')::uuid);
begin
  return query
  with ask as materialized (
    select * from json_to_recordset(asks -> 'asks')
      as t (place int, hook uuid, loan uuid, from_due timestamptz, from_id uuid, to_due timestamptz, room int, is_resuming boolean)
  ),
  busy as materialized (select * from json_to_recordset(asks -> 'busy') as t (hook uuid, loan uuid)),
  lane as materialized (
    select a.* from ask a join lanes l on l.webhook_id = a.hook
    where l.keeper = p_poller and not l.changed and l.in_order
    for update of l skip locked
  ),
  seen as materialized (
    select l.place as ask, l.hook, l.room, l.is_resuming, p.*
    from lane l
    cross join lateral (
      select p.ctid as place, p.due_at, p.delivery_id, p.event_id
      from pending p
      where p.webhook_id = l.hook and (p.due_at, p.delivery_id) > (l.from_due, l.from_id) and p.due_at <= least(l.to_due, moment)
        and p.delivery_id <> all (flying)
      order by p.due_at, p.delivery_id
      limit at_once
    ) p
    where l.loan is null
    union all
    select l.place, l.hook, l.room, l.is_resuming, p.*
    from lane l
    cross join lateral (
      select d.id, d.next_attempt_at
      from events e
      cross join lateral (
        select d.id, d.status, d.next_attempt_at from deliveries d where d.webhook_id = l.hook and d.event_id = e.id limit 1
      ) d
      where e.stream = l.loan and e.is_of_loan and d.status = 'pendente'
      order by e.version
      limit 1
    ) next
    cross join lateral (
      select p.ctid, p.due_at, p.delivery_id, p.event_id
      from pending p
      where p.webhook_id = l.hook and p.due_at in ('-infinity', next.next_attempt_at) and p.delivery_id = next.id and p.due_at <= moment
      limit 1
    ) p
    where l.loan is not null
  ),
  judged as materialized (
    select s.*, e.loan,
           e.loan is null or ahead.id is null and not exists (select from busy b where b.hook = s.hook and b.loan = e.loan) as is_free
    from seen s
    cross join lateral (select case when is_of_loan then stream end as loan, version from events where id = s.event_id limit 1) e
    left join lateral first_ahead(s.hook, e.loan, e.version, s.is_resuming) ahead on true
  ),
  ranked as materialized (
    select j.*, count(*) filter (where is_free) over (partition by ask order by j.due_at, j.delivery_id) as rank, count(*) over (partition by ask) as looked
    from judged j
  ),
  chosen as materialized (
    select distinct on (delivery_id) * from ranked where is_free and rank <= room order by delivery_id
  ),
  due as materialized (
    select p.*, c.loan
    from chosen c
    cross join lateral (select * from pending p where p.ctid = c.place for update skip locked) p
  ),
  intent as (
    insert into claims (poller, number, done_below, at, ids, numbers)
    select p_poller, p_number, p_done_below, coalesce(at, clock_timestamp()), array_agg(d.delivery_id), array_agg(d.number + 1)
    from due d having count(*) > 0
  )
  select d.delivery_id, d.number + 1, d.webhook_id, m.type, m.body, m.loan_version, m.traceparent, m.salt, d.is_test,
         to_char(nullif(d.due_at, '-infinity') at time zone 'UTC', iso), d.loan::text
  from due d join messages m on m.event_id = d.event_id
  union all
  select null, null, c.hook, null, null, null, null, null, null,
         to_char(nullif(c.due_at, '-infinity') at time zone 'UTC', iso), c.delivery_id::text
  from chosen c where c.delivery_id <> all (array(select d.delivery_id from due d))
  union all
  select null, l.place, l.hook, last.delivery_id::text, null, coalesce(last.is_more, false)::int, null, null, last.is_holding,
         to_char(nullif(last.due_at, '-infinity') at time zone 'UTC', iso), 'read'
  from lane l
  left join lateral (
    select r.due_at, r.delivery_id, bool_or(not r.is_free) over () as is_holding,
           r.looked = at_once or exists (select from ranked beyond where beyond.ask = l.place and beyond.rank > l.room) as is_more
    from ranked r where r.ask = l.place and r.rank <= l.room
    order by r.due_at desc, r.delivery_id desc
    limit 1
  ) last on true
  where l.loan is null
  union all
  select null, null, l.hook, null, null, null, null, null, null,
         (select to_char(p.due_at at time zone 'UTC', iso) from pending p
          where p.webhook_id = l.hook and (p.due_at, p.delivery_id) > (coalesce(last.due_at, l.from_due), coalesce(last.delivery_id, l.from_id))
            and p.delivery_id <> all (flying)
          order by p.due_at, p.delivery_id limit 1),
         'next'
  from lane l
  left join lateral (
    select r.due_at, r.delivery_id from ranked r where r.ask = l.place and r.rank <= l.room order by r.due_at desc, r.delivery_id desc limit 1
  ) last on true
  where l.loan is null and l.to_due > '-infinity'
  union all
  select null, null, a.hook, null, null, null, null, null, null, null, 'shut'
  from ask a where a.place <> all (array(select l.place from lane l));
end
$$;
