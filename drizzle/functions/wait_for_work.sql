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
--
-- Waits until there is work for a claim, for `patience_ms` at most: a lane that is due, or an arrival that was not taken. A
-- place that came free (an arrival without `due_at`) is work only for a lane that sleeps until then: with one for every
-- record, each delivery of an idle poller cost two turns, and the next one waited for them.
-- Each look is a statement with a snapshot of its own. An idle poller waits here, where a look costs some 10 µs and no
-- round trip. `at` replaces the clock in tests.
create or replace function wait_for_work(at timestamptz, patience_ms float8, nap_ms float8, due_from timestamptz default '-infinity')
  returns boolean
  language plpgsql volatile set search_path from current
as $$
declare
  appending constant bigint := advisory_lock('appending');
  nap_in_ms constant text := greatest(ceil(nap_ms), 1)::text;
  may_wait constant boolean := pg_try_advisory_xact_lock(advisory_lock('awaiting'));
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
    if may_wait and is_appending(appending) then
      begin
        perform set_config('lock_timeout', nap_in_ms, true);
        perform pg_advisory_xact_lock(appending);
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
