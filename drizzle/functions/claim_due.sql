-- Claims up to `at_most` due deliveries under the name `claim`. src/delivery/queue/claim.ts has the invariant and the crash case.
-- Returns first the deliveries that it took, then the lanes that had their turn, each with the columns that requests are made of,
-- the lost deliveries found there, and whether its last slot is taken.
-- A statement that begins after the lane was locked counts its deliveries in flight. Some of the poller's slots are reserved
-- (`reserve`, `holders` and `held`: within_share.sql). The lanes of `sated` partners, who have their share already, are passed
-- over and stay due: another poller may serve them now, and this one as soon as such a partner frees a slot.
-- Partners that reach their shares in this claim may have so many lanes due that nobody else's was looked at. So a second round looks at
-- the lanes of those who hold few and of whom nothing was found. Without it, records of attempts that hung together freed slots turn
-- after turn, and each claim gave them to the same partners: what arrived beside them waited until nothing hung any more.
-- Measured alternatives, CPU of the session: all but the locking in one statement 22.5 ms for 512 of 64 lanes (19.7 so), 13.9 for
-- 100 of 100 lanes (9.4), 0.63 for one (0.65); four small statements for each lane 29.3, 26.0 and 0.51.
create or replace function claim_due(
  claim text, at_most bigint, at timestamptz, due_from timestamptz, reserve int, holders uuid[], held int[], sated uuid[]
)
  returns table (
    id uuid, number int, event text, body bytea, loan_version int, traceparent text, salt bytea,
    webhook_id uuid, active boolean, partner_id uuid, url text, encrypted_secret bytea, previous_encrypted_secret bytea,
    encrypted_credentials bytea, claimed_at timestamptz, lost uuid[], is_full boolean, is_test boolean
  )
  language plpgsql volatile set search_path from current
as $$
#variable_conflict use_column
declare
  lanes_a_claim constant bigint := 128;
  -- So many deliveries a lane is served in one turn when other lanes wait.
  least_quantum constant bigint := 8;
  moment constant timestamptz := coalesce(at, now());
  places tid[];
  is_any_in_order boolean;
  quantum bigint;
  allowed uuid[];
  found record;
  taken bigint;
begin
  if coalesce(current_setting('carteiro.known_server', true), '') = '' then
    perform refuse_strange_server();
  end if;
  for round in 1 .. 2 loop
    select array_agg(due.ctid), bool_or(due.in_order)
    into places, is_any_in_order
    from (
      select l.ctid, l.in_order
      from lanes l
      where l.next_due_at between due_from and moment and l.partner_id <> all (sated)
      order by l.next_due_at
      limit least(at_most, lanes_a_claim)
      for update skip locked
    ) due;
    exit when places is null;
    quantum := greatest(least_quantum, at_most / cardinality(places));
    if is_any_in_order then
      allowed := hold_back(places, moment, quantum);
    end if;
    select * into found from find_due(places, moment, at_most, quantum, allowed, reserve, holders, held);
    return query
    update deliveries d
    set attempts = d.attempts + 1, claimed_by = claim, claimed_at = moment
    from unnest(found.ids, found.partners, found.are_within) as due (id, partner_id, is_within), messages m
    where d.id = due.id and d.partner_id = due.partner_id and due.is_within is not false and m.event_id = d.event_id
    returning d.id, d.attempts, m.type, m.body, m.loan_version, m.traceparent, m.salt, d.webhook_id,
              null::boolean, null::uuid, null::text, null::bytea, null::bytea, null::bytea, null::timestamptz, null::uuid[],
              null::boolean, d.is_test;
    get diagnostics taken = row_count;
    return query
    select * from rearm_lanes(places, found.turns, found.dues, found.are_within, at_most, moment);
    exit when (false = any (found.are_within)) is not true;
    sated := sated || holders || array(select distinct unnest(found.partners));
    at_most := at_most - taken;
  end loop;
end
$$;
