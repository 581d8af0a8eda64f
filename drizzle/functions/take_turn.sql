-- A turn of a poller, in the caller's transaction: waits for work, `patience_ms` at most (null: not at all), takes arrivals,
-- and claims up to `at_most` deliveries under the name `claim`. src/delivery/queue/claim.ts has the invariant of a claim.
-- Returns first a row of the turn itself: how many arrivals it took, the start of this server, and how long a claim is its
-- poller's. Then what serve_arrivals and claim_due return.
-- A poller behind others waits before its turn (wait_behind_others), and not in it.
--
-- Arrivals are served first, by half of the slots at most (serve_arrivals); then the lanes that are due (claim_due).
-- Crash: all or nothing. A turn that claims nothing commits asynchronously: should the server lose it, the arrivals are there
-- again, and the session's memory of them is gone with its session.
create or replace function take_turn(
  claim text, at_most bigint, at timestamptz, due_from timestamptz, reserve int, holders uuid[], held int[], sated uuid[],
  patience_ms float8 default null, nap_ms float8 default 1
)
  returns table (
    id uuid, number int, event text, body bytea, loan_version int, traceparent text, salt bytea,
    webhook_id uuid, active boolean, partner_id uuid, url text, encrypted_secret bytea, previous_encrypted_secret bytea,
    encrypted_credentials bytea, claimed_at timestamptz, lost uuid[], is_full boolean, is_test boolean, arrived int, server text, lease_ms float8
  )
  language plpgsql volatile set search_path from current
as $$
#variable_conflict use_column
declare
  arrivals_a_turn constant bigint := 4000;
  moment timestamptz;
  has_work boolean := true;
  came arrivals[];
  -- Nothing that arrived was claimed.
  is_empty boolean := true;
  waits_for_disk text;
begin
  if coalesce(current_setting('carteiro.known_server', true), '') = '' then
    perform refuse_strange_server();
  end if;
  if patience_ms is not null then
    has_work := wait_for_work(at, patience_ms, nap_ms, due_from, sated);
  end if;
  moment := coalesce(at, clock_timestamp());
  came := take_arrivals(arrivals_a_turn);
  arrived := coalesce(cardinality(came), 0);
  server := pg_postmaster_start_time();
  lease_ms := extract(epoch from lease()) * 1000;
  return next;
  if came is not null then
    return query select s.*, null::int, null::text, null::float8
    from serve_arrivals(claim, came, at_most, moment, reserve, holders, held) s;
    is_empty := not found;
  end if;
  if (came is null and has_work)
     or exists (select from lanes where next_due_at between due_from and moment and partner_id <> all (sated)) then
    if not is_empty then
      select h.holders, h.held, at_most - h.added into holders, held, at_most from held_with(claim, came, holders, held) h;
    end if;
    return query
    select c.*, null::int, null::text, null::float8
    from claim_due(claim, at_most, moment, due_from, reserve, holders, held, sated) c;
    is_empty := is_empty and not found;
  end if;
  if is_empty then
    waits_for_disk := set_config('synchronous_commit', 'off', true);
  end if;
end
$$;
