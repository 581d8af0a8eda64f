-- Waits until there is work for a claim, at most `patience_ms`: a due lane, or an arrival that this session has not
-- taken. A freed slot is work only for a saturated lane; otherwise each record would wake the poller once more for
-- nothing. A due lane of a `sated` partner is no work: the poller has no slot for it (claim_due.sql). Each look is a statement
-- with a snapshot of its own and costs 10 us hot, 60 after a nap; the wait is in the server, so a look needs no round trip. While
-- no transaction has ended since the last look, and no lane has come due, there is nothing to look for. `at` replaces the clock
-- in tests.
--
-- Instead of sleeping between two looks, an idle poller waits for the end of a transaction that is appending:
-- append_event holds a shared advisory lock until its transaction ends (wait_for_append.sql). So the poller wakes at the commit.
-- Invariants. An append never waits: it tries the lock, and goes on without it while a poller waits for others; that
-- commit is found at the next look. Only the time of a look depends on the locks, and no look is later than a nap would
-- make it. At most one poller of a database waits: it keeps the watch. PostgreSQL grants the lock to the next waiter before that
-- waiter runs. With several waiting pollers it would circulate among them and none would sleep: 30 idle pollers took 1.3
-- cores. The others look a quarter as often and return half as often, and whoever finds the watch free takes it. Twice the
-- patience and four naps must end before the session's statement_timeout: a wait that is cancelled looks like an outage.
-- Crash: locks end with their transactions, the poller's at the latest with its statement.
-- Measured, commit to arrival (p50, 100/s): 1.65 ms with the lock, 2.05 without; with 5 ms between the append and its
-- commit 1.9 and 2.1; beside a transaction that stays open 2.25 and 2.25. NOTIFY: 1.75, because it wakes the poller,
-- which then has to ask.
-- Measured, CPU of PostgreSQL and poller for an event at 50/s and at 100/s: 3.4 and 2.9 ms; with a look after each nap 4.1 and
-- 3.1. We tried a poller that sleeps in its session until a NOTIFY wakes it, sent only while it sleeps; not kept. It wakes 7
-- times an event instead of 23, but takes a turn more and wakes Node once more (4.4 and 4.1 ms); and PostgreSQL cannot prepare
-- a transaction that has sent a NOTIFY. Naps of 2 ms in place of 1, with a look after each: 3.4 and 2.8 ms, and 0.4 ms more
-- from commit to arrival.
create or replace function wait_for_work(
  at timestamptz, patience_ms float8, nap_ms float8, due_from timestamptz default '-infinity', sated uuid[] default '{}'
)
  returns boolean
  language plpgsql volatile set search_path from current
as $$
declare
  appending constant bigint := advisory_lock('appending');
  awaiting constant bigint := advisory_lock('awaiting');
  keeps_watch boolean := pg_try_advisory_xact_lock(awaiting);
  give_up_at constant timestamptz
    := clock_timestamp() + patience_ms * case when keeps_watch then 1 else 2 end * interval '1 millisecond';
  after constant xid8 := pg_snapshot_xmax(arrivals_taken());
  running constant xid8[] := array(select pg_snapshot_xip(arrivals_taken()));
  moment timestamptz;
  -- The snapshot before a look: a commit during the look changes it, so the next nap ends in another one.
  seen text;
  looked_at text;
  next_due timestamptz;
  -- Assigned: `perform` would start a statement (take_arrivals.sql).
  done boolean;
begin
  loop
    -- A variable: compared with a volatile function, the index on lanes would be walked from end to end.
    moment := coalesce(at, clock_timestamp());
    seen := pg_current_snapshot();
    if seen is distinct from looked_at or next_due <= moment then
      if exists (select from arrivals where tx >= after and kind in ('due', 'look'))
         or exists (select from arrivals where tx = any (running) and kind in ('due', 'look'))
         or exists (select from lanes where next_due_at between due_from and moment and partner_id <> all (sated))
         or exists (select from saturated_lanes_told_of(after, running))
      then
        return true;
      end if;
      looked_at := seen;
      next_due := (select next_due_at from lanes where next_due_at >= due_from and partner_id <> all (sated)
                   order by next_due_at limit 1);
    end if;
    if clock_timestamp() >= give_up_at then
      return false;
    end if;
    keeps_watch := keeps_watch or pg_try_advisory_xact_lock(awaiting);
    if keeps_watch and is_appending(appending) then
      done := wait_for_append(appending, nap_ms);
    else
      done := pg_sleep(nap_ms * case when keeps_watch then 1 else 4 end / 1000) is null;
    end if;
  end loop;
end
$$;
