-- Claims the pending deliveries that arrivals of one lane name, by their keys, if the lane's window has room for all of them:
-- the lane's row first, then the deliveries, as serve_arrivals returns them. Nothing is returned if there is no room. The
-- caller has locked the lane. A delivery that another session holds, or that is no longer due between these times, is passed
-- over.
-- Invariant: this keeps of a lane what a claim keeps (rearm_lanes.sql): its window, by a count that is newer than the lane's
-- lock; its marks; and that it is due when the first lease ends.
-- Crash: this is part of the transaction that took the arrivals.
-- The columns are those of serve_arrivals, claim_due and rearm_lanes; said-once.db.test.ts holds them equal. A composite type would
-- say them once, but `create type` knows no `or replace`, so a new column would need a numbered migration.
create or replace function claim_named(
  claim text, lane lanes, ids uuid[], first_due timestamptz, last_due timestamptz, moment timestamptz
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
  state record;
  taken bigint;
  lease_end timestamptz;
begin
  select * into state from state_of_lane(lane, moment);
  if state.slots < cardinality(ids) then
    return;
  end if;
  webhook_id := lane.webhook_id;
  active := true;
  partner_id := lane.partner_id;
  url := state.url;
  encrypted_secret := state.encrypted_secret;
  previous_encrypted_secret := state.previous_encrypted_secret;
  encrypted_credentials := state.encrypted_credentials;
  claimed_at := moment;
  is_full := state.slots = cardinality(ids);
  return next;
  return query
  update deliveries d
  set attempts = d.attempts + 1, claimed_by = claim, claimed_at = moment
  from messages m,
       (select named.id from deliveries named
        where named.id = any (ids) and named.partner_id = lane.partner_id and named.status = 'pendente'
          and named.claimed_at is null
          and named.next_attempt_at between first_due and last_due
        for update skip locked) due
  where d.id = due.id and d.partner_id = lane.partner_id and m.event_id = d.event_id
  returning d.id, d.attempts, m.type, m.body, m.loan_version, m.traceparent, m.salt, d.webhook_id, null::boolean,
            null::uuid, null::text, null::bytea, null::bytea, null::bytea, null::timestamptz, null::uuid[], null::boolean,
            d.is_test;
  get diagnostics taken = row_count;
  if taken > 0 then
    lease_end := least(state.first_claimed_at, moment) + lease();
    update lanes l
    set version = l.version + 1,
        saturated = taken = state.slots,
        in_flight = state.flying + taken,
        next_due_at = case when taken = state.slots then lease_end else least(l.next_due_at, lease_end) end,
        scan_from = least(l.next_scan_from, state.first_due, claim_named.first_due, moment),
        next_scan_from = least(state.first_due, claim_named.first_due, moment),
        flying_to = greatest(state.last_due, claim_named.last_due)
    where l.webhook_id = lane.webhook_id and l.version = lane.version;
  end if;
end
$$;
