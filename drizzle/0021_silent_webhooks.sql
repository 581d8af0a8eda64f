ALTER TABLE "arrivals" ADD COLUMN "silent" boolean;--> statement-breakpoint
ALTER TABLE "lanes" ADD COLUMN "window_size" integer;--> statement-breakpoint
ALTER TABLE "lanes" ADD CONSTRAINT "lanes_window_size" CHECK (window_size >= 1);--> statement-breakpoint
ALTER TABLE "arrivals" ALTER COLUMN "silent" SET STATISTICS 20;--> statement-breakpoint
ALTER TABLE "lanes" ALTER COLUMN "window_size" SET STATISTICS 20;--> statement-breakpoint
GRANT INSERT (silent) ON "arrivals" TO carteiro_app, carteiro_poller;--> statement-breakpoint
GRANT UPDATE (window_size) ON "lanes" TO carteiro_app, carteiro_poller;
