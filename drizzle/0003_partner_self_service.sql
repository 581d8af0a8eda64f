ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_once";--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "loan_version" integer;--> statement-breakpoint
ALTER TABLE "webhook_history" ADD COLUMN "change" text DEFAULT 'criacao' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "previous_sealed_secret" "bytea";--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "previous_until" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "deliveries_stopped" ON "deliveries" USING btree ("webhook_id","status","event_id") WHERE status in ('erro', 'suspensa');--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_once" UNIQUE("webhook_id","event_id");--> statement-breakpoint
ALTER TABLE "webhook_history" ADD CONSTRAINT "webhook_history_change" CHECK (change in ('criacao', 'alteracao', 'desativacao', 'reativacao', 'segredo_trocado', 'segredo_anterior_encerrado'));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_previous" CHECK ((previous_sealed_secret is null) = (previous_until is null));