-- Serves arrivals that this transaction has taken (take_arrivals). A first attempt goes the short way: the delivery that its
-- arrival names is claimed by its key, and its lane is neither searched nor made due. Every other arrival arms its lane
-- (arm_lanes), for claim_due. Returns the claimed deliveries and their lanes as claim_due does: half of `at_most` deliveries at
-- most, so that arrivals never take all slots from deliveries that wait.
--
-- The short way is for a lane that is held by nobody, is not saturated, muted or in order, has nothing due, and whose window
-- has room for all deliveries that arrived; and whose partner stays within its share with the whole turn. A freed slot of a
-- lane that had others, and answers that move no window, arm nothing. A delivery that claim_named does not find as it was
-- appended is not claimed, and its lane is armed.
-- Crash: this is part of the transaction that took the arrivals.
-- The short way runs statements for each lane, so arrivals of more than three lanes are all armed: with claim_due, whose
-- statements are for all lanes at once, a hundred first attempts of as many lanes take 11 ms instead of 28, six 1.7 instead of
-- 2.0, two 1.1 instead of 0.9.
-- Measured alternative: the short way of all lanes in four statements. A hundred took 10 ms, but one 0.75 instead of 0.57.
create or replace function serve_arrivals(
  claim text, came arrivals[], at_most bigint, moment timestamptz, reserve int, holders uuid[], held int[]
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
  lanes_the_short_way constant int := 3;
  share constant bigint := partner_share(at_most - cardinality(came), reserve);
  left_over bigint := at_most / 2;
  told record;
  lane lanes;
  -- The rows of claim_named: the lane's and its deliveries'.
  taken bigint;
  rest arrivals[] := '{}';
begin
  if cardinality(came) > lanes_the_short_way
     and (select count(distinct a.webhook_id) from unnest(came) a) > lanes_the_short_way then
    perform arm_lanes(came, moment);
    return;
  end if;
  for told in select * from arrivals_by_lane(came) order by due_at, webhook_id loop
    rest := rest || told.arrivals;
    continue when told.tells_more or told.named > left_over;
    select * into lane
    from lanes l
    where l.webhook_id = told.webhook_id and l.partner_id = told.partner_id
    order by l.version desc
    limit 1
    for update skip locked;
    continue when not found or lane.saturated
      or told.has_free_slot and lane.in_flight >= floor(least(lane.window_size, lane.max_in_flight));
    if told.named > 0 then
      continue when lane.next_due_at <= moment or lane.muted_at is not null or lane.in_order
        or coalesce(held[array_position(holders, told.partner_id)], 7) + cardinality(came) > share;
      return query select * from claim_named(claim, lane, told.ids, told.due_at, told.last_due_at, moment);
      get diagnostics taken = row_count;
      left_over := left_over - greatest(taken - 1, 0);
      continue when taken - 1 < told.named;
    end if;
    rest := rest[: cardinality(rest) - cardinality(told.arrivals)];
  end loop;
  if rest <> '{}' then
    perform arm_lanes(rest, moment);
  end if;
end
$$;
