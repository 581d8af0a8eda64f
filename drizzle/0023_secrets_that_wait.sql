ALTER TABLE "webhook_history" DROP CONSTRAINT "webhook_history_change";--> statement-breakpoint
ALTER TABLE "webhook_history" ADD COLUMN "takes_effect_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "signs_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "webhook_history" ADD CONSTRAINT "webhook_history_change" CHECK (change in ('criacao', 'alteracao', 'desativacao', 'reativacao', 'segredo_trocado', 'segredo_agendado', 'segredo_ativado', 'segredo_descartado', 'segredo_anterior_encerrado'));--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_signs_from" CHECK (signs_from is null or coalesce(signs_from < previous_until, false));