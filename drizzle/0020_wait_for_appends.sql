-- A transaction that appends an event holds a lock, shared, until it is over. While there is one, an idle poller waits for
-- its end instead of sleeping, and so wakes in the moment of the commit, not at its next look; nobody is told anything.
--
-- Invariants. Whoever appends never waits: it tries, and while somebody waits for others it does without, so that its
-- commit is seen at the next look. Nothing but the time of a look depends on the locks, and none comes later than it would
-- have: a wait lasts no longer than a nap. At most one poller of a database waits: the lock is given to whoever is next
-- before that one runs, so several would hand it around, each with its look at nothing, and none would ever sleep (30 idle
-- pollers took 1.3 cores, and 0.25 as it is).
-- Crash: locks end with their transactions, the poller's at the latest with its statement.
-- Measured, commit to arrival (p50, 100/s): 1.65 ms, not 2.05; when 5 ms lie between the append and its commit 1.9, not
-- 2.1; beside a transaction that stays open 2.25, as before. With waits of up to 3 ms the last two were 2.1 and 2.4.
-- The lock is taken first of all: an append and its commit take less than a millisecond, and a poller that has gone to
-- sleep meanwhile does not see it. NOTIFY was no quicker (1.75): it wakes the poller, which then has to ask.
create function appending_lock() returns bigint
  language sql immutable parallel safe
return 0x61_70_6e_64; -- "apnd"
--> statement-breakpoint
alter function appending_lock owner to carteiro_owner;
--> statement-breakpoint
create function awaiting_lock() returns bigint
  language sql immutable parallel safe
return 0x61_77_61_69; -- "awai"
--> statement-breakpoint
alter function awaiting_lock owner to carteiro_owner;
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
  emitted constant boolean := is_emitted(p_type);
  current_version integer;
begin
  if emitted then
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
  if emitted then
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
-- Whether a transaction that appends is under way. One expression: no cancellation comes between the two calls.
create function is_appending() returns boolean
  language sql volatile
return not case when pg_try_advisory_lock(appending_lock()) then pg_advisory_unlock(appending_lock()) else false end;
--> statement-breakpoint
alter function is_appending owner to carteiro_owner;
--> statement-breakpoint
-- As before (0016), but that instead of sleeping it waits for what is being appended.
create or replace function wait_for_work(at timestamptz, patience_ms float8, nap_ms float8, due_from timestamptz default '-infinity')
  returns boolean
  language plpgsql volatile
as $$
declare
  nap_in_ms constant text := greatest(ceil(nap_ms), 1)::text;
  may_wait constant boolean := pg_try_advisory_xact_lock(awaiting_lock());
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
    if may_wait and is_appending() then
      begin
        perform set_config('lock_timeout', nap_in_ms, true);
        perform pg_advisory_xact_lock(appending_lock());
        -- However this block ends, it is undone, and the lock with it.
        raise sqlstate 'CT001' using message = 'appended';
      exception when lock_not_available or sqlstate 'CT001' then
        null;
      end;
    else
      perform pg_sleep(nap_ms / 1000);
    end if;
  end loop;
end
$$;
