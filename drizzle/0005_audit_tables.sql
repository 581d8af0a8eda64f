CREATE TABLE "seals" (
	"number" bigint PRIMARY KEY NOT NULL,
	"first_tx" bigint NOT NULL,
	"end_tx" bigint NOT NULL,
	"rows" integer NOT NULL,
	"digest" "bytea" NOT NULL,
	"previous" "bytea" NOT NULL,
	"hash" "bytea" NOT NULL,
	"sealed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "seals_in_order" UNIQUE("first_tx"),
	CONSTRAINT "seals_number" CHECK (number >= 1),
	CONSTRAINT "seals_span" CHECK (first_tx < end_tx and rows > 0),
	CONSTRAINT "seals_digests" CHECK (octet_length(digest) = 32 and octet_length(previous) = 32 and octet_length(hash) = 32)
);
--> statement-breakpoint
CREATE INDEX "attempts_by_partner" ON "attempts" USING btree ("partner_id","recorded_at");--> statement-breakpoint
CREATE INDEX "attempts_in_time" ON "attempts" USING btree ("recorded_at");--> statement-breakpoint
CREATE INDEX "attempts_sealable" ON "attempts" USING brin ((tx::text::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "attempts_failed" ON "attempts" USING btree ("outcome","recorded_at") WHERE outcome <> 'entregue';--> statement-breakpoint
CREATE INDEX "events_sealable" ON "events" USING brin ((tx::text::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "events_by_day" ON "events" USING brin ("occurred_at") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "webhook_history_sealable" ON "webhook_history" USING brin ((tx::text::bigint)) WITH (autosummarize=true);