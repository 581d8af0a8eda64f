-- A lane changes with every claim on it. A unique index visits all versions of a row at each change, and while a snapshot is
-- held open it visits them for ever. So the key stands in a table of its own, written once for each lane.
CREATE TABLE "lane_keys" (
	"webhook_id" uuid PRIMARY KEY NOT NULL
);
--> statement-breakpoint
INSERT INTO "lane_keys" SELECT "webhook_id" FROM "lanes";--> statement-breakpoint
ALTER TABLE "lanes" DROP CONSTRAINT "lanes_pkey";--> statement-breakpoint
ALTER TABLE "lanes" ADD COLUMN "version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "lanes" ADD CONSTRAINT "lanes_webhook_id_lane_keys_webhook_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."lane_keys"("webhook_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "lanes_newest" ON "lanes" USING btree ("webhook_id","version");--> statement-breakpoint
-- It has no key by which a logical replica could find what is changed.
ALTER TABLE "lanes" REPLICA IDENTITY FULL;--> statement-breakpoint
ALTER TABLE "lane_keys" OWNER TO carteiro_owner;--> statement-breakpoint
GRANT SELECT, INSERT ON "lane_keys" TO carteiro_poller;--> statement-breakpoint
-- No lane is due before this: what the session's last claim has left (delivery/lanes), until its trust in that ends. At
-- first, and then again, it knows nothing.
create function lanes_due_from() returns timestamptz
  language sql stable
return coalesce(
  (select mark[1]
   from (select nullif(current_setting('carteiro.due_from', true), '')::timestamptz[] as mark) left_here
   where mark[2] > now()),
  '-infinity'
);
--> statement-breakpoint
-- As before (0014), but that a look walks neither the times at which lanes were due before, nor the versions that lanes had.
create or replace function wait_for_work(at timestamptz, patience_ms float8, nap_ms float8) returns boolean
  language plpgsql volatile
as $$
declare
  give_up_at constant timestamptz := clock_timestamp() + patience_ms * interval '1 millisecond';
  after constant xid8 := pg_snapshot_xmax(arrivals_taken());
  running constant xid8[] := array(select pg_snapshot_xip(arrivals_taken()));
  due_from constant timestamptz := case when at is null then lanes_due_from() else '-infinity' end;
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
alter function lanes_due_from owner to carteiro_owner;
