DROP INDEX "attempts_sealable";--> statement-breakpoint
DROP INDEX "events_sealable";--> statement-breakpoint
DROP INDEX "webhook_history_sealable";--> statement-breakpoint
CREATE INDEX "attempts_sealable" ON "attempts" USING brin ((xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "events_sealable" ON "events" USING brin ((xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "webhook_history_sealable" ON "webhook_history" USING brin ((xid8send(tx)::bigint)) WITH (autosummarize=true);