ALTER TABLE "arrivals" ADD COLUMN "tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL;--> statement-breakpoint
CREATE INDEX "arrivals_by_tx" ON "arrivals" USING btree ("tx");--> statement-breakpoint
ALTER TABLE "arrivals" DROP COLUMN "id";--> statement-breakpoint
REVOKE UPDATE (webhook_id) ON "arrivals" FROM carteiro_poller;--> statement-breakpoint
-- Pollers take away what is dead themselves (delivery/cleaner).
GRANT MAINTAIN ON "arrivals", "lanes" TO carteiro_poller;
