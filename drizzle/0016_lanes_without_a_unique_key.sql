-- A lane changes with every claim on it. A unique index visits all versions of a row at each change, and while a snapshot is
-- held open it visits them for ever.
ALTER TABLE "lanes" DROP CONSTRAINT "lanes_pkey";--> statement-breakpoint
ALTER TABLE "lanes" ADD COLUMN "version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "lanes_newest" ON "lanes" USING btree ("webhook_id","version");--> statement-breakpoint
-- It has no key by which a logical replica could find what is changed.
ALTER TABLE "lanes" REPLICA IDENTITY FULL;--> statement-breakpoint
-- Each webhook has one lane because it is made with it, by nobody else, and keeps it.
revoke insert, update on lanes from carteiro_app, carteiro_poller;
--> statement-breakpoint
grant update (version, next_due_at, max_in_flight, saturated, scan_from, next_scan_from, flying_to)
  on lanes to carteiro_app, carteiro_poller;
--> statement-breakpoint
create function make_lane() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  insert into lanes (webhook_id) values (new.id);
  return null;
end
$$;
--> statement-breakpoint
alter function make_lane owner to carteiro_owner;
--> statement-breakpoint
revoke execute on function make_lane from public;
--> statement-breakpoint
create trigger webhooks_have_lanes after insert on webhooks for each row execute function make_lane();
--> statement-breakpoint
-- Behind the trigger, which waited for all who were making webhooks without one.
insert into lanes (webhook_id) select id from webhooks where id not in (select webhook_id from lanes);
--> statement-breakpoint
-- As before (0014), but that a look walks neither the times at which lanes were due before `due_from`, when none is now,
-- nor the versions that lanes had.
drop function wait_for_work;
--> statement-breakpoint
create function wait_for_work(at timestamptz, patience_ms float8, nap_ms float8, due_from timestamptz default '-infinity')
  returns boolean
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
    perform pg_sleep(nap_ms / 1000);
  end loop;
end
$$;
--> statement-breakpoint
alter function wait_for_work owner to carteiro_owner;
