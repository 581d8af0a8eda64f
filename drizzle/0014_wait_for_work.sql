-- The snapshot of which this session has taken all arrivals (delivery/arrivals): at first the one that sees nothing.
create function arrivals_taken() returns pg_snapshot
  language sql stable
return coalesce(nullif(current_setting('carteiro.taken', true), ''), '1:1:')::pg_snapshot;
--> statement-breakpoint
-- Waits until there is work for a claim, for `patience_ms` at most: a lane that is due, or an arrival that was not taken. A
-- place that came free (an arrival without `due_at`) is work only for a lane that sleeps until then: with one for every
-- record, each delivery of an idle poller cost two turns, and the next one waited for them.
-- Each look is a statement with a snapshot of its own. An idle poller waits here, where a look costs some 10 µs and no
-- round trip. `at` replaces the clock in tests.
create function wait_for_work(at timestamptz, patience_ms float8, nap_ms float8) returns boolean
  language plpgsql volatile
as $$
declare
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
       or exists (select from lanes where next_due_at <= moment)
       or exists (
         select from lanes
         where saturated and webhook_id = any (array(
           select webhook_id from arrivals where tx >= after
           union
           select webhook_id from arrivals where tx = any (running)
         ))
       )
    then
      return true;
    end if;
    if clock_timestamp() >= give_up_at then
      return false;
    end if;
    perform pg_sleep(nap_ms / 1000);
  end loop;
end
$$;
--> statement-breakpoint
alter function arrivals_taken owner to carteiro_owner;
--> statement-breakpoint
alter function wait_for_work owner to carteiro_owner;
