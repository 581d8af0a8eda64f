-- Claims up to `at_most` due deliveries under the name `claim`. Returns the lanes that it locked, each with the turn that it
-- has, what its requests are made of, and what was lost of what it would have claimed; then, with the turns of their lanes,
-- what it claimed.
create or replace function claim_due(claim text, at_most bigint, at timestamptz, due_from timestamptz, lease interval)
  returns table (
    turn int, id uuid, number int, event text, body bytea, loan_version int,
    webhook_id uuid, active boolean, partner_id uuid, url text, sealed_secret bytea, previous_sealed_secret bytea,
    claimed_at timestamptz, lost uuid[]
  )
  language plpgsql volatile set search_path from current
as $$
#variable_conflict use_column
declare
  -- What a claim does with each lane goes through lists of all of its lanes.
  lanes_a_claim constant bigint := 128;
  -- So many deliveries a lane is served in one turn when other lanes wait.
  least_quantum constant bigint := 8;
  moment constant timestamptz := coalesce(at, now());
  lease_start constant timestamptz := moment - lease;
  locked constant tid[] := array(
    select ctid
    from lanes
    where next_due_at between due_from and moment
    order by next_due_at
    limit least(at_most, lanes_a_claim)
    for update skip locked
  );
  quantum constant bigint := greatest(least_quantum, at_most / nullif(cardinality(locked), 0));
begin
  if current_setting('carteiro.known_server', true) is distinct from 'yes' then
    perform refuse_strange_server();
  end if;
  if cardinality(locked) = 0 then
    return;
  end if;
  return query
  -- Each locked lane with its free places and with what is claimed of it: how many are in flight, since when, and from when
  -- to when all are or were due.
  with lane as materialized (
    select row_number() over ()::int as turn, l.ctid as place, l.webhook_id,
           l.next_due_at, l.max_in_flight, l.scan_from, l.next_scan_from,
           case when w.active then l.max_in_flight - claimed.flying else 0 end as places, claimed.*,
           coalesce(w.active, false) as active, w.partner_id, w.url, w.sealed_secret,
           case when w.previous_until > moment then w.previous_sealed_secret end as previous_sealed_secret
    from unnest(locked) as held (place)
    join lanes l on l.ctid = held.place
    left join webhooks w on w.id = l.webhook_id
    cross join lateral (
      select count(*) filter (where d.claimed_at > lease_start) as flying,
             min(d.claimed_at) filter (where d.claimed_at > lease_start) as first_claimed_at,
             min(d.next_attempt_at) as first_due, max(d.next_attempt_at) as last_due
      from deliveries d
      where d.webhook_id = l.webhook_id and d.status = 'pendente' and d.claimed_at is not null
        and d.next_attempt_at between l.scan_from and l.flying_to
    ) claimed
  ),
  due as materialized (
    select lane.turn, row_number() over () as rank, d.*
    from lane
    cross join lateral (
      select d.id, d.event_id, d.next_attempt_at, d.claimed_at is not null as is_lost
      from deliveries d
      where d.webhook_id = lane.webhook_id and d.status = 'pendente'
        and d.next_attempt_at between lane.scan_from and moment
        and (d.claimed_at is null or d.claimed_at <= lease_start)
      order by d.next_attempt_at
      limit greatest(least(lane.places, quantum), 0)
      for update skip locked
    ) d
    limit at_most
  ),
  taken as (
    update deliveries d
    set attempts = d.attempts + 1, claimed_by = claim, claimed_at = moment
    from due, messages m
    where d.id = due.id and not due.is_lost and m.event_id = due.event_id
    returning due.turn, d.id, d.attempts, m.type, m.body, m.loan_version
  ),
  mine as materialized (
    select due.turn, count(*) filter (where not due.is_lost) as n,
           min(due.next_attempt_at) filter (where not due.is_lost) as first_due,
           max(due.next_attempt_at) filter (where not due.is_lost) as last_due,
           array_agg(due.id) filter (where not due.is_lost) as ids,
           array_agg(due.id) filter (where due.is_lost) as lost
    from due
    group by due.turn
  ),
  -- Sets when and where each lane that had its turn is looked at next: now, behind the lanes that wait already, if due
  -- deliveries remain; else when the next one is due or a lease ends; or, when saturated, at the earliest end of a lease
  -- (a free place wakes it sooner). Once the claim is full the lanes behind have not had their turn, and the one whose turn
  -- was cut short keeps its place before them, unless it was the first: with few places free it would be served for ever.
  rearmed as (
    update lanes l
    set version = l.version + 1,
        saturated = s.flying >= s.max_in_flight,
        next_due_at = case
          when s.flying >= s.max_in_flight then s.first_claimed_at + lease
          when s.due_at <= moment then case when s.is_cut then s.next_due_at else moment end
          else least(s.due_at, s.first_claimed_at + lease)
        end,
        scan_from = least(s.next_scan_from, s.first_due, s.due_at, moment),
        next_scan_from = least(s.first_due, s.due_at, moment),
        flying_to = s.last_due
    from (
      select lane.place, lane.max_in_flight, lane.next_due_at, lane.next_scan_from,
             lane.turn = full_at.turn and lane.turn > 1 as is_cut,
             lane.flying + coalesce(mine.n, 0) as flying,
             coalesce(lane.first_claimed_at, case when mine.n > 0 then moment end) as first_claimed_at,
             least(lane.first_due, mine.first_due) as first_due,
             greatest(lane.last_due, mine.last_due) as last_due,
             open.due_at
      from (select max(turn) filter (where rank = at_most) as turn from due) full_at
      cross join lateral (select * from lane limit full_at.turn) lane
      left join mine on mine.turn = lane.turn
      left join lateral (
        select d.next_attempt_at as due_at
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente' and d.next_attempt_at >= lane.scan_from
          and (d.claimed_at is null or d.claimed_at <= lease_start) and d.id <> all (coalesce(mine.ids, '{}'))
        order by d.next_attempt_at
        limit 1
      ) open on true
    ) s
    where l.ctid = s.place
  )
  select lane.turn, null::uuid, null::int, null::text, null::bytea, null::int,
         webhook_id, active, partner_id, url, sealed_secret, previous_sealed_secret, moment, mine.lost
  from lane
  left join mine on mine.turn = lane.turn
  union all
  select turn, id, attempts, type, body, loan_version, null, null, null, null, null, null, null, null
  from taken;
end
$$;
