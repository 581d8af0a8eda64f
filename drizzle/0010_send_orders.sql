CREATE TABLE "send_orders" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "send_orders_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"webhook_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"delivery_ids" uuid[] NOT NULL,
	"actor" text NOT NULL,
	"request_id" uuid,
	"ordered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "send_orders_kind" CHECK (kind in ('reenvio', 'reenvio_em_lote', 'teste', 'retomada')),
	CONSTRAINT "send_orders_deliveries" CHECK (cardinality(delivery_ids) >= 1)
);
--> statement-breakpoint
ALTER TABLE "send_orders" ADD CONSTRAINT "send_orders_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "send_orders_by_webhook" ON "send_orders" USING btree ("webhook_id","position");--> statement-breakpoint
CREATE INDEX "send_orders_sealable" ON "send_orders" USING brin ((xid8send(tx)::bigint)) WITH (autosummarize=true);