DROP INDEX "deliveries_in_flight";--> statement-breakpoint
ALTER TABLE "arrivals" ADD COLUMN "due_at" timestamp with time zone DEFAULT now();--> statement-breakpoint
ALTER TABLE "lanes" ADD COLUMN "scan_from" timestamp with time zone DEFAULT '-infinity' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanes" ADD COLUMN "flying_to" timestamp with time zone;--> statement-breakpoint
-- What is claimed now carries the end of its lease as its time: its lanes look everywhere until they are claimed from again.
UPDATE "lanes" SET "flying_to" = 'infinity';--> statement-breakpoint
-- A claim is a heap-only update where its page has room for one more version of some of its rows.
ALTER TABLE "deliveries" SET (fillfactor = 80);--> statement-breakpoint
-- Rows that live for milliseconds: what is dead is taken away while it is little.
ALTER TABLE "arrivals" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
ALTER TABLE "lanes" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
GRANT INSERT (due_at) ON "arrivals" TO carteiro_app, carteiro_poller;
