-- One poll, in the caller's transaction: waits up to `patience_ms` for work (null: not at all) and claims due rows of its lanes.
-- src/delivery/queue/lanes/kept-lanes.ts has the invariant. Parameters:
--   seen              the snapshot up to which the caller has followed `pending`; wake_at: when something that it knows comes due
--   closed, tight     lanes that may take nothing new now (reported, not claimed; so are resting ones that are not tight), or few, and how many
--   most, most_each   the new rows to take, in all and of any other lane
--   hooks … rooms     lanes to read on behind a place (due_at, id) up to a time, and how many to take; flying: their rows in flight there
--   loans             the same for lanes in order (poll_loans.sql)
-- Returns claimed rows, and by lane (`told`) the first place of what it saw unclaimed, the time of its next retry (`next`), or `shut`
-- (locked, changed or not kept); last the poll: its snapshot, the server's start (`event`), the lease, the time, and whether a lane of the
-- caller has changed (`is_test`).
-- Deliveries and numbers of a claim are one row of `claims`, in the same commit. New rows and snapshot come from one statement; the claim's
-- time is that statement's. Each look-up in `pending` is by key or by its partial index.
create or replace function poll_lanes(
  p_poller text, p_number bigint, p_done_below bigint, at timestamptz, seen pg_snapshot, closed uuid[], tight uuid[], tight_rooms int[],
  most int, most_each int,
  hooks uuid[], from_dues timestamptz[], from_ids uuid[], to_dues timestamptz[], rooms int[], flying uuid[], wake_at timestamptz,
  patience_ms float8 default null, nap_ms float8 default 1, loans json default null
)
  returns table (
    id uuid, number int, webhook_id uuid, event text, body bytea, loan_version int, traceparent text, salt bytea, is_test boolean,
    due_at text, told text
  )
  language plpgsql volatile set search_path from current
as $$
#variable_conflict use_column
declare
  claimed_at_once constant bigint := 4000;
  -- Of one form, so that the caller can compare them as texts.
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
  after constant xid8 := pg_snapshot_xmax(seen);
  running constant xid8[] := case when pg_snapshot_xmin(seen) < pg_snapshot_xmax(seen) then array(select pg_snapshot_xip(seen)) else '{}' end;
  -- More new rows than are claimed at once: then they are only told of.
  are_many boolean;
  moment timestamptz;
  followed text;
  n bigint := 0;
  m bigint := 0;
  k bigint := 0;
  done boolean;
begin
  if coalesce(current_setting('carteiro.known_server', true), '') = '' then
    perform refuse_strange_server();
  end if;
  followed := wait_for_work(p_poller, at, after, running, wake_at, patience_ms, nap_ms);
  moment := coalesce(at, clock_timestamp());
  if followed is null then
    are_many := (select count(*) from (select from pending p where p.tx >= after limit claimed_at_once + 1) first_rows) > claimed_at_once;
    return query
    with new as materialized (
      select p.ctid as place, p.* from pending p where p.tx >= after
      union all
      select p.ctid, p.* from pending p where p.tx = any (running)
    ),
    lane as materialized (
      select l.webhook_id from lanes l
      where not are_many and l.webhook_id = any (array(select distinct n.webhook_id from new n where n.webhook_id <> all (closed)))
        and l.keeper = p_poller and not l.changed and not l.in_order and (not l.resting or l.webhook_id = any (tight))
      for update of l skip locked
    ),
    due as materialized (
      select p.*
      from (
        select r.place
        from (
          select n.place, n.webhook_id, row_number() over (partition by n.webhook_id order by n.delivery_id) as rank
          from new n
          where n.due_at = '-infinity' and n.webhook_id = any (array(select l.webhook_id from lane l)) and n.delivery_id <> all (flying)
        ) r
        where r.rank <= coalesce(tight_rooms[array_position(tight, r.webhook_id)], most_each) limit most
      ) chosen
      cross join lateral (select * from pending p where p.ctid = chosen.place for update skip locked) p
    ),
    intent as (
      insert into claims (poller, number, done_below, at, ids, numbers)
      select p_poller, p_number, p_done_below, coalesce(at, clock_timestamp()), array_agg(d.delivery_id), array_agg(d.number + 1)
      from due d having count(*) > 0
    )
    select d.delivery_id, d.number + 1, d.webhook_id, m.type, m.body, m.loan_version, m.traceparent, m.salt, d.is_test, null, null
    from due d join messages m on m.event_id = d.event_id
    union all
    select null, null, n.webhook_id, null, null, null, null, null, null, to_char(nullif(min(n.due_at), '-infinity') at time zone 'UTC', iso), min(n.delivery_id::text)
    from new n
    where n.delivery_id <> all (array(select d.delivery_id from due d))
    group by n.webhook_id, n.due_at = '-infinity'
    union all
    select null, null, null, null, null, null, null, null, null, null, pg_current_snapshot()::text;
    get diagnostics n = row_count;
  end if;
  if hooks <> '{}' then
    return query
    with kept as materialized (
      select l.webhook_id from lanes l
      where l.webhook_id = any (hooks) and l.keeper = p_poller and not l.changed and not l.in_order
      for update skip locked
    ),
    lane as materialized (
      select ask.*
      from unnest(hooks, from_dues, from_ids, to_dues, rooms) with ordinality as ask (hook, from_due, from_id, to_due, room, place)
      where ask.hook = any (array(select k.webhook_id from kept k))
    ),
    found as materialized (
      select l.place as ask, p.*
      from lane l
      cross join lateral (
        select p.ctid as place, p.due_at, p.delivery_id
        from pending p
        where p.webhook_id = l.hook and (p.due_at, p.delivery_id) > (l.from_due, l.from_id) and p.due_at <= least(l.to_due, moment)
          and p.delivery_id <> all (flying)
        order by p.due_at, p.delivery_id
        limit l.room
      ) p
    ),
    due as materialized (
      select p.*
      from found f
      cross join lateral (select * from pending p where p.ctid = f.place for update skip locked) p
    ),
    intent as (
      insert into claims (poller, number, done_below, at, ids, numbers)
      select p_poller, p_number, p_done_below, coalesce(at, clock_timestamp()), array_agg(d.delivery_id), array_agg(d.number + 1)
      from due d having count(*) > 0
    )
    select d.delivery_id, d.number + 1, d.webhook_id, m.type, m.body, m.loan_version, m.traceparent, m.salt, d.is_test,
           to_char(nullif(d.due_at, '-infinity') at time zone 'UTC', iso), null
    from due d join messages m on m.event_id = d.event_id
    union all
    select null, null, hooks[f.ask], null, null, null, null, null, null, to_char(nullif(f.due_at, '-infinity') at time zone 'UTC', iso), f.delivery_id::text
    from found f
    where f.delivery_id <> all (array(select d.delivery_id from due d))
    union all
    select null, null, l.hook, null, null, null, null, null, null,
           (select to_char(p.due_at at time zone 'UTC', iso) from pending p
            where p.webhook_id = l.hook and (p.due_at, p.delivery_id) > (coalesce(last.due_at, l.from_due), coalesce(last.delivery_id, l.from_id))
              and p.delivery_id <> all (flying)
            order by p.due_at, p.delivery_id limit 1),
           'next'
    from lane l
    left join lateral (select f.due_at, f.delivery_id from found f where f.ask = l.place order by f.due_at desc, f.delivery_id desc limit 1) last
      on true
    where l.to_due > '-infinity'
    union all
    select null, null, hook, null, null, null, null, null, null, null, 'shut'
    from unnest(hooks) hook where hook <> all (array(select k.webhook_id from kept k));
    get diagnostics m = row_count;
  end if;
  if loans is not null then
    return query select * from poll_loans(p_poller, p_number, p_done_below, at, moment, loans);
    get diagnostics k = row_count;
  end if;
  if n + m + k = 0 then
    -- Nothing was written: should the server lose it, nothing is lost.
    done := set_config('synchronous_commit', 'off', true) is null;
  end if;
  id := null;
  webhook_id := null;
  number := extract(epoch from lease()) * 1000;
  event := pg_postmaster_start_time();
  due_at := to_char(moment at time zone 'UTC', iso);
  told := followed;
  is_test := exists (select from lanes l where l.keeper = p_poller and l.changed for update skip locked);
  return next;
end
$$;
