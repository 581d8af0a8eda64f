-- Claims up to `at_most` due deliveries under the name `claim`. src/delivery/queue/claim.ts has the invariant and the
-- crash case.
-- Returns two kinds of rows. First the lanes that had their turn, each with the columns that requests are made of, the lost
-- deliveries that it found, and whether its last slot is taken. Then the claimed deliveries, each with the turn of its lane.
-- Once the claim is full, the other lanes that it locked are not looked at: no part of the statement reads `lane` beyond
-- the last turn. When each claim of 64 looked at all of 100 due lanes, it took a fifth more.
--
-- A lane gets no more slots than its window, and a single one while its webhook is `falhando`. A partner gets no more than its
-- share of the poller's slots (src/delivery/queue/slots.ts): partner `holders[i]` holds `held[i]` slots, partners that are not
-- listed hold few, and `reserve` slots are kept for those. With a null `reserve`, shares are not looked at. The lanes of `sated`
-- partners, who have their share already, are passed over and stay due: another poller may serve them now, and this one as
-- soon as a slot of theirs is let go. When they were put off for 5 s instead, the pollers slept beside a backlog.
-- Lanes, webhooks and deliveries are joined by their partner too; messages are not. With the partner in that join, and
-- old statistics, the planner took the events' index by partner: 250 us a delivery instead of 70, and more with each
-- event.
-- Of a lane in order only those are taken that hold_back allows (hold_back.sql); other lanes are not asked for it.
create or replace function claim_due(
  claim text, at_most bigint, at timestamptz, due_from timestamptz, reserve int, holders uuid[], held int[], sated uuid[]
)
  returns table (
    turn int, id uuid, number int, event text, body bytea, loan_version int, traceparent text, salt bytea,
    webhook_id uuid, active boolean, partner_id uuid, url text, encrypted_secret bytea, previous_encrypted_secret bytea,
    claimed_at timestamptz, lost uuid[], is_full boolean, is_test boolean
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
  lease constant interval := lease();
  lease_start constant timestamptz := moment - lease;
  locked tid[];
  is_any_in_order boolean;
  allowed uuid[];
  quantum bigint;
begin
  if current_setting('carteiro.known_server', true) is distinct from 'yes' then
    perform refuse_strange_server();
  end if;
  select array_agg(due.ctid), bool_or(due.in_order)
  into locked, is_any_in_order
  from (
    select l.ctid, l.in_order
    from lanes l
    where l.next_due_at between due_from and moment and l.partner_id <> all (sated)
    order by l.next_due_at
    limit least(at_most, lanes_a_claim)
    for update skip locked
  ) due;
  if locked is null then
    return;
  end if;
  quantum := greatest(least_quantum, at_most / cardinality(locked));
  if is_any_in_order then
    allowed := hold_back(locked, moment, quantum);
  end if;
  return query
  -- Each locked lane with its free slots and with what is claimed of it: how many are in flight, since when, and from when
  -- to when all are or were due.
  with lane as materialized (
    select row_number() over ()::int as turn, l.ctid, l.webhook_id, l.partner_id, l.next_due_at, l.scan_from, l.next_scan_from,
           l.in_order, now.*
    from unnest(locked) as held (ctid)
    join lanes l on l.ctid = held.ctid
    cross join lateral state_of_lane(l, moment) now
  ),
  found as (
    select lane.turn, lane.partner_id, row_number() over () as rank, d.*
    from lane
    cross join lateral (
      select d.id, d.event_id, d.next_attempt_at, d.claimed_at is not null as is_lost
      from deliveries d
      where d.webhook_id = lane.webhook_id and d.partner_id = lane.partner_id and d.status = 'pendente'
        and d.next_attempt_at between lane.scan_from and moment
        and (d.claimed_at is null or d.claimed_at <= lease_start)
        and (not lane.in_order or d.claimed_at is not null or d.id = any (allowed))
      order by d.next_attempt_at
      limit greatest(least(lane.slots, quantum), 0)
      for update skip locked
    ) d
    limit at_most
  ),
  -- Each as if all before it were taken: its partner's share is of what they leave free.
  due as materialized (
    select found.*,
           not is_lost
           and coalesce(held[array_position(holders, partner_id)], 0) + row_number() over (partition by partner_id order by rank)
               <= partner_share(at_most - rank, reserve) as is_taken
    from found
  ),
  taken as (
    update deliveries d
    set attempts = d.attempts + 1, claimed_by = claim, claimed_at = moment
    from due, messages m
    where d.id = due.id and d.partner_id = due.partner_id and due.is_taken
      and m.event_id = due.event_id
    returning due.turn, d.id, d.attempts, m.type, m.body, m.loan_version, m.traceparent, m.salt, d.is_test
  ),
  mine as materialized (
    select due.turn, count(*) filter (where due.is_taken) as n,
           bool_or(not due.is_taken and not due.is_lost) as is_short,
           min(due.next_attempt_at) filter (where due.is_taken) as first_due,
           max(due.next_attempt_at) filter (where due.is_taken) as last_due,
           array_agg(due.id) filter (where due.is_taken) as ids,
           array_agg(due.id) filter (where due.is_lost) as lost
    from due
    group by due.turn
  ),
  -- The turn in which the claim became full; null: all lanes had theirs.
  last_turn as (
    select max(turn) filter (where rank = at_most) as turn from due
  ),
  -- Sets when and where each lane that had its turn is looked at next: now, behind the lanes that wait already, if due
  -- deliveries remain; else when the next one is due or a lease ends; or, when saturated, at the earliest end of a lease
  -- (a free slot wakes it sooner). Once the claim is full the lanes behind have not had their turn, and the one whose turn
  -- was cut short stays before them, unless it was the first: with few slots free it would be served for ever.
  -- So does a lane of which nothing was taken because its partner reached its share in this same claim.
  rearmed as (
    update lanes l
    set version = l.version + 1,
        saturated = s.flying >= s.max_in_flight,
        in_flight = s.flying,
        next_due_at = case
          when s.flying >= s.max_in_flight then s.first_claimed_at + lease
          when s.due_at <= moment then case when s.is_cut then s.next_due_at else moment end
          else least(s.due_at, s.first_claimed_at + lease)
        end,
        scan_from = least(s.next_scan_from, s.first_due, s.due_at, moment),
        next_scan_from = least(s.first_due, s.due_at, moment),
        flying_to = s.last_due
    from (
      select lane.ctid, lane.max_in_flight, lane.next_due_at, lane.next_scan_from,
             (lane.turn = last_turn.turn and lane.turn > 1) or (mine.is_short and mine.n = 0) as is_cut,
             lane.flying + coalesce(mine.n, 0) as flying,
             coalesce(lane.first_claimed_at, case when mine.n > 0 then moment end) as first_claimed_at,
             least(lane.first_due, mine.first_due) as first_due,
             greatest(lane.last_due, mine.last_due) as last_due,
             open.due_at
      from last_turn
      cross join lateral (select * from lane limit last_turn.turn) lane
      left join mine on mine.turn = lane.turn
      left join lateral (
        select nullif(d.next_attempt_at, 'infinity') as due_at
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.partner_id = lane.partner_id and d.status = 'pendente'
          and d.next_attempt_at >= lane.scan_from and (d.claimed_at is null or d.claimed_at <= lease_start) and d.id <> all (coalesce(mine.ids, '{}'))
        order by d.next_attempt_at
        limit 1
      ) open on true
    ) s
    where l.ctid = s.ctid
  )
  select lane.turn, null::uuid, null::int, null::text, null::bytea, null::int, null::text, null::bytea,
         webhook_id, active, partner_id, url, encrypted_secret, previous_encrypted_secret, moment, mine.lost,
         lane.slots <= coalesce(mine.n, 0), null::boolean
  from last_turn
  cross join lateral (select * from lane limit last_turn.turn) lane
  left join mine on mine.turn = lane.turn
  union all
  select turn, id, attempts, type, body, loan_version, traceparent, salt, null, null, null, null, null, null, null, null, null, is_test
  from taken;
end
$$;
