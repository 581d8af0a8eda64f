-- A transaction that appends an event holds this lock, shared, until it is over, and an idle poller waits for its end
-- instead of sleeping: it wakes in the moment of the commit, not at its next look, and nobody is told anything.
--
-- Invariant: whoever appends never waits. It tries: while a poller waits for others it does without, and is seen at the
-- next look, as all were before. Nothing but the time of a look depends on the lock.
-- Crash: locks end with their sessions. A transaction that stays open keeps pollers looking, as often as they would have.
-- Measured: commit to arrival 1.65 ms, not 2.05 (p50, 100/s). It is taken first of all: an append and its commit take
-- less than a millisecond, and a poller that has gone to sleep meanwhile does not see it. NOTIFY in the core's transaction
-- was no quicker (1.75): it wakes the poller, which then has to ask.
create function appending_lock() returns bigint
  language sql immutable parallel safe
return 0x61_70_6e_64; -- "apnd"
--> statement-breakpoint
alter function appending_lock owner to carteiro_owner;
--> statement-breakpoint
-- As before (0004), but that it tells that it is under way.
create or replace function append_event(
  p_stream uuid,
  p_expected_version integer,
  p_type text,
  p_partner_id uuid,
  p_data json,
  p_actor text,
  p_request_id uuid default null,
  p_occurred_at timestamptz default null,
  p_family text default 'backoffice',
  out event_id uuid,
  out fan_out integer
)
language plpgsql as $$
declare
  occurred constant timestamptz := date_trunc('milliseconds', coalesce(p_occurred_at, clock_timestamp()));
  current_version integer;
begin
  if is_emitted(p_type) then
    perform pg_try_advisory_xact_lock_shared(appending_lock());
  end if;

  select coalesce(max(e.version), 0) into current_version from events e where e.stream = p_stream;

  if current_version = p_expected_version then
    insert into events (stream, version, type, family, partner_id, data, occurred_at, actor, request_id)
    values (p_stream, p_expected_version + 1, p_type, p_family, p_partner_id, p_data, occurred, p_actor, p_request_id)
    on conflict (stream, version) do nothing
    returning id into event_id;
  end if;

  if event_id is null then
    raise exception 'stream % is not at version %', p_stream, p_expected_version
      using errcode = 'CT409', hint = 'read the stream again, decide on its new state, and append in a new transaction';
  end if;

  fan_out := 0;
  if is_emitted(p_type) then
    with delivery as (
      insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
      select append_event.event_id, w.id, w.partner_id, now()
      from webhooks w
      where w.partner_id = p_partner_id and w.active and p_type = any (w.events)
      returning webhook_id
    ),
    arrival as (
      insert into arrivals (webhook_id) select d.webhook_id from delivery d
    )
    insert into messages (event_id, partner_id, type, body, fan_out, loan_version, snapshot)
    select append_event.event_id, p_partner_id, p_type,
           envelope(p_type, occurred, p_family, p_partner_id, p_data),
           (select count(*) from delivery),
           case when p_data ->> 'emprestimo_id' = p_stream::text then p_expected_version + 1 end,
           pg_current_snapshot()
    returning messages.fan_out into fan_out;
  end if;
end $$;
--> statement-breakpoint
-- As before (0016), but that it waits for what is being appended instead of sleeping, for about as long at most.
create or replace function wait_for_work(at timestamptz, patience_ms float8, nap_ms float8, due_from timestamptz default '-infinity')
  returns boolean
  language plpgsql volatile
as $$
declare
  -- Nearly all appends commit sooner, and to wait in vain costs as much as three looks.
  least_wait_ms constant float8 := 3;
  give_up_at constant timestamptz := clock_timestamp() + patience_ms * interval '1 millisecond';
  after constant xid8 := pg_snapshot_xmax(arrivals_taken());
  running constant xid8[] := array(select pg_snapshot_xip(arrivals_taken()));
  moment timestamptz;
begin
  loop
    -- A variable: compared with a volatile function, the index on lanes would be walked from end to end.
    moment := coalesce(at, clock_timestamp());
    if exists (select from arrivals where tx >= after and due_at is not null)
       or exists (select from arrivals where tx = any (running) and due_at is not null)
       or exists (select from lanes where next_due_at between due_from and moment)
       or exists (
         select
         from (
           select webhook_id from arrivals where tx >= after
           union
           select webhook_id from arrivals where tx = any (running)
         ) freed
         cross join lateral (
           select saturated from lanes where lanes.webhook_id = freed.webhook_id order by version desc limit 1
         ) lane
         where saturated
       )
    then
      return true;
    end if;
    if clock_timestamp() >= give_up_at then
      return false;
    end if;
    if pg_try_advisory_lock(appending_lock()) then
      perform pg_advisory_unlock(appending_lock());
      perform pg_sleep(nap_ms / 1000);
    else
      begin
        perform set_config('lock_timeout', greatest(ceil(nap_ms), least_wait_ms)::text, true);
        perform pg_advisory_lock(appending_lock());
        perform pg_advisory_unlock(appending_lock());
      exception when lock_not_available then
        -- Granted in the moment in which the time was over, it would be kept.
        perform pg_advisory_unlock_all();
      end;
    end if;
  end loop;
end
$$;
