CREATE TABLE "alert_addresses" (
	"partner_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"address" text NOT NULL,
	"set_at" timestamp with time zone NOT NULL,
	"confirmed_at" timestamp with time zone,
	"code" text,
	"wrong_codes" smallint DEFAULT 0 NOT NULL,
	CONSTRAINT "alert_addresses_pkey" PRIMARY KEY("partner_id","channel"),
	CONSTRAINT "alert_addresses_code" CHECK ((confirmed_at is null) = (code is not null))
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"subject" uuid NOT NULL,
	"kind" text NOT NULL,
	"happened_at" timestamp with time zone NOT NULL,
	"channel" text NOT NULL,
	"partner_id" uuid NOT NULL,
	"address" text,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now(),
	"sent_at" timestamp with time zone,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "alerts_pkey" PRIMARY KEY("subject","kind","happened_at","channel"),
	CONSTRAINT "alerts_kind" CHECK (kind in ('falhando', 'suspensao', 'fim_da_falha', 'fim_do_segredo', 'atraso', 'erro', 'resposta_estranha', 'certificado', 'mudanca', 'silenciado', 'confirmacao', 'teste')),
	CONSTRAINT "alerts_channel" CHECK (channel in ('email', 'slack', 'evento'))
);
--> statement-breakpoint
CREATE TABLE "receiver_certificates" (
	"origin" text PRIMARY KEY NOT NULL,
	"valid_until" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "archive_acts" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "archive_acts_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"act" text NOT NULL,
	"month" text NOT NULL,
	"first_seal" bigint NOT NULL,
	"last_seal" bigint NOT NULL,
	"place" text NOT NULL,
	"manifest" "bytea" NOT NULL,
	"deliveries" "bytea" NOT NULL,
	"rows" bigint NOT NULL,
	"actor" text NOT NULL,
	"reason" text,
	"done_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "archive_acts_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0),
	CONSTRAINT "archive_acts_act" CHECK (act in ('arquivamento', 'remocao', 'remocao_concluida', 'restauracao')),
	CONSTRAINT "archive_acts_seals" CHECK (first_seal between 1 and last_seal)
);
--> statement-breakpoint
CREATE TABLE "conformance_runs" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"webhook_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"actor" text NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"alive_until" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"checks" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"report" text
);
--> statement-breakpoint
CREATE TABLE "cursor_keys" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"key" "bytea" NOT NULL,
	CONSTRAINT "cursor_keys_is_only_check" CHECK ("cursor_keys"."is_only"),
	CONSTRAINT "cursor_keys_key_check" CHECK (octet_length("cursor_keys"."key") = 32)
);
--> statement-breakpoint
CREATE TABLE "retired_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"actor" text NOT NULL,
	"retired_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "claims" (
	"at" timestamp with time zone NOT NULL,
	"number" bigint NOT NULL,
	"done_below" bigint NOT NULL,
	"poller" text NOT NULL,
	"ids" uuid[] NOT NULL,
	"numbers" integer[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"next_attempt_at" timestamp with time zone,
	"finished_at" timestamp (3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failures" smallint DEFAULT 0 NOT NULL,
	"lost_in_row" smallint,
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"event_id" uuid NOT NULL,
	"webhook_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"status" text DEFAULT 'pendente' NOT NULL,
	"stopped" text GENERATED ALWAYS AS (case when status in ('erro', 'suspensa') then status end) STORED,
	"is_test" boolean,
	"created_at" timestamp (3) with time zone generated always as (uuid_extract_timestamp(event_id)) virtual,
	CONSTRAINT "deliveries_once" UNIQUE("webhook_id","event_id")
);
--> statement-breakpoint
CREATE TABLE "keepers" (
	"name" text PRIMARY KEY NOT NULL,
	"seen_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"lanes" integer DEFAULT 0 NOT NULL,
	"has_lock" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lanes" (
	"webhook_id" uuid PRIMARY KEY NOT NULL,
	"partner_id" uuid NOT NULL,
	"keeper" text,
	"changed" boolean DEFAULT false NOT NULL,
	"max_in_flight" integer DEFAULT 64 NOT NULL,
	"window_size" real DEFAULT 8 NOT NULL,
	"muted_at" timestamp (3) with time zone,
	"failing_since" timestamp with time zone,
	"in_order" boolean DEFAULT false NOT NULL,
	"resumes_until" timestamp with time zone,
	"resting" boolean DEFAULT false NOT NULL,
	CONSTRAINT "lanes_max_in_flight" CHECK (max_in_flight between 1 and 1000),
	CONSTRAINT "lanes_window_size" CHECK (window_size >= 1)
);
--> statement-breakpoint
CREATE TABLE "pending" (
	"due_at" timestamp with time zone DEFAULT '-infinity' NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id(),
	"number" integer DEFAULT 0 NOT NULL,
	"webhook_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"is_test" boolean,
	CONSTRAINT "pending_webhook_id_due_at_delivery_id_pk" PRIMARY KEY("webhook_id","due_at","delivery_id")
);
--> statement-breakpoint
CREATE TABLE "cpf_reads" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "cpf_reads_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"actor" text NOT NULL,
	"operation" text NOT NULL,
	"asked" text NOT NULL,
	"request_id" uuid,
	"events" uuid[],
	"read_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "cpf_reads_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0)
);
--> statement-breakpoint
CREATE TABLE "erasure_orders" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "erasure_orders_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" uuid DEFAULT uuidv7() NOT NULL,
	"court_order" text,
	"actor" text NOT NULL,
	"reason" text NOT NULL,
	"events" integer NOT NULL,
	"pages" integer NOT NULL,
	"ordered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "erasure_orders_id" UNIQUE("id"),
	CONSTRAINT "erasure_orders_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0)
);
--> statement-breakpoint
CREATE TABLE "erasure_pages" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "erasure_pages_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"order_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"event_ids" uuid[] NOT NULL,
	"remains" "bytea"[] NOT NULL,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "erasure_pages_once" UNIQUE("order_id","number"),
	CONSTRAINT "erasure_pages_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0),
	CONSTRAINT "erasure_pages_events" CHECK (cardinality(event_ids) >= 1 and cardinality(event_ids) <= 50 and cardinality(remains) = cardinality(event_ids))
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"cpf" text,
	"next_page" integer DEFAULT 1 NOT NULL,
	"done_at" timestamp (3) with time zone,
	"looked_to" bigint,
	CONSTRAINT "erasures_done" CHECK ((cpf is null) = (done_at is not null))
);
--> statement-breakpoint
CREATE TABLE "worker_events" (
	"event_id" uuid NOT NULL,
	"digest" "bytea" NOT NULL,
	"stream" uuid NOT NULL,
	"is_own" boolean NOT NULL,
	CONSTRAINT "worker_events_pkey" PRIMARY KEY("event_id","digest")
);
--> statement-breakpoint
CREATE TABLE "anchor_receipts" (
	"size" bigint NOT NULL,
	"kind" text NOT NULL,
	"place" text NOT NULL,
	"receipt" "bytea" NOT NULL,
	"anchored_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "anchor_receipts_pkey" PRIMARY KEY("kind","place","size"),
	CONSTRAINT "anchor_receipts_kind" CHECK (kind in ('carimbo_de_tempo', 'arquivo', 'bucket', 'testemunha'))
);
--> statement-breakpoint
CREATE TABLE "anchors" (
	"kind" text NOT NULL,
	"place" text NOT NULL,
	"active" boolean NOT NULL,
	"size" bigint DEFAULT 0 NOT NULL,
	"anchored_at" timestamp (3) with time zone,
	"error" text,
	"known_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "anchors_pkey" PRIMARY KEY("kind","place"),
	CONSTRAINT "anchors_kind" CHECK (kind in ('carimbo_de_tempo', 'arquivo', 'bucket', 'testemunha'))
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"started_at" timestamp (3) with time zone NOT NULL,
	"recorded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"number" integer NOT NULL,
	"duration_ms" integer,
	"target" integer,
	"status_code" smallint,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"late" boolean DEFAULT false NOT NULL,
	"delivery_id" uuid NOT NULL,
	"event_id" uuid,
	"webhook_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"outcome" text NOT NULL,
	"url" text,
	"address" text,
	"key_id" text,
	"claim" text NOT NULL,
	"poller" text generated always as (left(claim, length(claim) - strpos(reverse(claim), '/'))) virtual,
	"error" text,
	"answer" text,
	"body_digest" "bytea",
	"salt" "bytea" DEFAULT uuid_send(gen_random_uuid()),
	"commitment" "bytea",
	CONSTRAINT "attempts_pkey" PRIMARY KEY("delivery_id","number","late"),
	CONSTRAINT "attempts_time" CHECK (isfinite(started_at))
);
--> statement-breakpoint
CREATE TABLE "checkpoints" (
	"size" bigint PRIMARY KEY NOT NULL,
	"root" "bytea" NOT NULL,
	"note" text NOT NULL,
	"signed_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seal_nodes" (
	"level" smallint NOT NULL,
	"index" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	CONSTRAINT "seal_nodes_pkey" PRIMARY KEY("level","index"),
	CONSTRAINT "seal_nodes_hash" CHECK (level >= 1 and octet_length(hash) = 32)
);
--> statement-breakpoint
CREATE TABLE "seal_trees" (
	"number" bigint PRIMARY KEY NOT NULL,
	"leaves" "bytea" NOT NULL,
	"nodes" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seals" (
	"number" bigint PRIMARY KEY NOT NULL,
	"first_epoch" smallint NOT NULL,
	"first_tx" bigint NOT NULL,
	"end_epoch" smallint NOT NULL,
	"end_tx" bigint NOT NULL,
	"rows" integer NOT NULL,
	"root" "bytea" NOT NULL,
	"remains" "bytea",
	"sealed_at" timestamp (3) with time zone NOT NULL,
	"leaf" "bytea" NOT NULL,
	CONSTRAINT "seals_in_order" UNIQUE("first_epoch","first_tx"),
	CONSTRAINT "seals_number" CHECK (number >= 1),
	CONSTRAINT "seals_time" CHECK (isfinite(sealed_at)),
	CONSTRAINT "seals_span" CHECK ((first_epoch, first_tx) < (end_epoch, end_tx) and rows > 0),
	CONSTRAINT "seals_digests" CHECK (octet_length(root) = 32 and octet_length(leaf) = 32)
);
--> statement-breakpoint
CREATE TABLE "send_orders" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "send_orders_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"webhook_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"delivery_ids" uuid[] NOT NULL,
	"actor" text NOT NULL,
	"reason" text,
	"request_id" uuid,
	"ordered_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "send_orders_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0),
	CONSTRAINT "send_orders_kind" CHECK (kind in ('reenvio', 'reenvio_em_lote', 'teste', 'retomada', 'cancelamento')),
	CONSTRAINT "send_orders_deliveries" CHECK (cardinality(delivery_ids) >= 1)
);
--> statement-breakpoint
CREATE TABLE "targets" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "targets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"url" text NOT NULL,
	"address" text NOT NULL,
	"key_id" text NOT NULL,
	CONSTRAINT "targets_once" UNIQUE("url","address","key_id")
);
--> statement-breakpoint
CREATE TABLE "failing_policy" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"looked_at" timestamp with time zone NOT NULL,
	CONSTRAINT "failing_policy_is_only_check" CHECK ("failing_policy"."is_only")
);
--> statement-breakpoint
CREATE TABLE "failing_runs" (
	"webhook_id" uuid PRIMARY KEY NOT NULL,
	"partner_id" uuid NOT NULL,
	"failures" integer NOT NULL,
	"first_failed_at" timestamp with time zone NOT NULL,
	"last_failed_at" timestamp with time zone NOT NULL,
	"last_outcome" text NOT NULL,
	"last_status_code" smallint,
	CONSTRAINT "failing_runs_span" CHECK (failures >= 1 and first_failed_at <= last_failed_at)
);
--> statement-breakpoint
CREATE TABLE "attempt_hours" (
	"webhook_id" uuid NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"outcome" text NOT NULL,
	"took" smallint NOT NULL,
	"attempts" bigint NOT NULL,
	CONSTRAINT "attempt_hours_pkey" PRIMARY KEY("webhook_id","hour","outcome","took")
);
--> statement-breakpoint
CREATE TABLE "attempt_steps" (
	"subject_id" uuid NOT NULL,
	"step" timestamp with time zone NOT NULL,
	"delivered" integer NOT NULL,
	"failed" integer NOT NULL,
	"classes" smallint[] NOT NULL,
	"counts" integer[] NOT NULL,
	CONSTRAINT "attempt_steps_pkey" PRIMARY KEY("subject_id","step")
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"system_identifier" bigint NOT NULL,
	"epoch_base" integer DEFAULT 0 NOT NULL,
	"own_from" smallint NOT NULL,
	"timeline" integer NOT NULL,
	"next_tx" "xid8" NOT NULL,
	"noted_at" timestamp with time zone DEFAULT now() NOT NULL,
	"loan_number_start" integer DEFAULT 1 NOT NULL,
	"loan_number_step" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "installation_is_only_check" CHECK ("installation"."is_only"),
	CONSTRAINT "installation_loan_numbers" CHECK (loan_number_start between 1 and loan_number_step)
);
--> statement-breakpoint
CREATE TABLE "bond_records" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"kind" text NOT NULL,
	"reference" text NOT NULL,
	"partner_id" uuid NOT NULL,
	"loan_id" uuid NOT NULL,
	"data" json NOT NULL,
	"seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"detected_at" timestamp (3) with time zone,
	"emitted" json,
	"event_id" uuid,
	CONSTRAINT "bond_records_once" UNIQUE("kind","reference"),
	CONSTRAINT "bond_records_event" UNIQUE("event_id"),
	CONSTRAINT "bond_records_kind" CHECK (kind in ('ended', 'new')),
	CONSTRAINT "bond_records_emitted" CHECK ((detected_at is null) = (emitted is null) and (emitted is null) = (event_id is null))
);
--> statement-breakpoint
CREATE TABLE "bonds_unknown" (
	"kind" text NOT NULL,
	"reference" text NOT NULL,
	"partner_id" uuid NOT NULL,
	"loan_id" uuid NOT NULL,
	"data" json NOT NULL,
	"seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "bonds_unknown_pkey" PRIMARY KEY("kind","reference"),
	CONSTRAINT "bonds_unknown_kind" CHECK (kind in ('ended', 'new'))
);
--> statement-breakpoint
CREATE TABLE "margin_flights" (
	"partner_id" uuid NOT NULL,
	"worker_cpf" text NOT NULL,
	"employer_cnpj" text NOT NULL,
	"flight" uuid NOT NULL,
	"lease_ends_at" timestamp with time zone,
	"error_kind" text,
	"error" text,
	CONSTRAINT "margin_flights_pkey" PRIMARY KEY("partner_id","worker_cpf","employer_cnpj"),
	CONSTRAINT "margin_flights_error" CHECK ((error_kind is null) = (error is null)),
	CONSTRAINT "margin_flights_open_has_no_error" CHECK (lease_ends_at is null or error is null)
);
--> statement-breakpoint
CREATE TABLE "margin_queries" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"partner_id" uuid NOT NULL,
	"worker_cpf" text NOT NULL,
	"employer_cnpj" text NOT NULL,
	"earnings_centavos" bigint NOT NULL,
	"margin_centavos" bigint NOT NULL,
	"queried_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "margin_queries_amounts" CHECK (earnings_centavos >= 0)
);
--> statement-breakpoint
CREATE TABLE "settled_elsewhere" (
	"loan_id" uuid PRIMARY KEY NOT NULL,
	"partner_id" uuid NOT NULL,
	"until" text NOT NULL,
	CONSTRAINT "settled_elsewhere_until" CHECK (until ~ '^[0-9]{4}-(0[1-9]|1[0-2])$')
);
--> statement-breakpoint
CREATE TABLE "settled_installments" (
	"partner_id" uuid NOT NULL,
	"loan_id" uuid NOT NULL,
	"number" smallint NOT NULL,
	"settlement_id" uuid NOT NULL,
	CONSTRAINT "settled_installments_pkey" PRIMARY KEY("loan_id","number"),
	CONSTRAINT "settled_installments_number" CHECK (number between 1 and 96)
);
--> statement-breakpoint
CREATE TABLE "settlements" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"partner_id" uuid NOT NULL,
	"month" text NOT NULL,
	"installments" integer NOT NULL,
	"contracts" integer NOT NULL,
	"total_centavos" bigint NOT NULL,
	"closed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "settlements_once" UNIQUE("partner_id","month"),
	CONSTRAINT "settlements_month" CHECK (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
	CONSTRAINT "settlements_counts" CHECK (installments >= contracts and contracts >= 0 and total_centavos >= 0)
);
--> statement-breakpoint
CREATE TABLE "sync_windows" (
	"name" text PRIMARY KEY NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "closed_months" (
	"partner_id" uuid NOT NULL,
	"month" text NOT NULL,
	"settlement_id" uuid NOT NULL,
	"closed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "closed_months_pkey" PRIMARY KEY("partner_id","month")
);
--> statement-breakpoint
CREATE TABLE "documents" (
	"loan_id" uuid NOT NULL,
	"type" text NOT NULL,
	"partner_id" uuid NOT NULL,
	"file_name" text,
	"media_type" text NOT NULL,
	"sha256" "bytea" NOT NULL,
	"content" "bytea" NOT NULL,
	"received_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "documents_pkey" PRIMARY KEY("loan_id","type"),
	CONSTRAINT "documents_type" CHECK (type in ('ccb_assinada', 'selfie', 'documento_frente', 'documento_verso', 'evidencias')),
	CONSTRAINT "documents_media_type" CHECK (media_type in ('application/pdf', 'image/jpeg', 'image/png')),
	CONSTRAINT "documents_sha256" CHECK (sha256 = sha256(content)),
	CONSTRAINT "documents_size" CHECK (octet_length(content) between 1 and 8388608)
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"partner_id" uuid NOT NULL,
	"operation" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"status" smallint,
	"body" json,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY("partner_id","operation","key"),
	CONSTRAINT "idempotency_keys_length" CHECK (char_length(key) between 1 and 255),
	CONSTRAINT "idempotency_keys_hash" CHECK (octet_length(request_hash) = 32)
);
--> statement-breakpoint
CREATE TABLE "loans" (
	"id" uuid PRIMARY KEY NOT NULL,
	"partner_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"away_from" date,
	"away_to" date,
	"is_leaving" boolean,
	"away_events" "bytea",
	"away_digest" "bytea",
	"away_worker" "bytea",
	"away_own" uuid[],
	"state" json,
	"status" text generated always as (state ->> 'status') virtual,
	"number" text generated always as (state ->> 'number') virtual,
	"disbursed_on" text generated always as (state ->> 'disbursedOn') virtual,
	CONSTRAINT "loans_version" CHECK (version >= 1),
	CONSTRAINT "loans_status" CHECK (state is null or coalesce(state ->> 'status', '') in ('emitindo', 'em_assinatura', 'aguardando_averbacao', 'averbada', 'desembolsada', 'cancelada', 'encerrada_desligamento')),
	CONSTRAINT "loans_away" CHECK (num_nulls(away_from, away_to, away_events, away_digest) = case when state is null or is_leaving then 0 else 4 end)
);
--> statement-breakpoint
CREATE TABLE "numbered_loans" (
	"partner_id" uuid NOT NULL,
	"number" text NOT NULL,
	"loan_id" uuid NOT NULL,
	CONSTRAINT "numbered_loans_pkey" PRIMARY KEY("partner_id","number")
);
--> statement-breakpoint
CREATE TABLE "registrations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"loan_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"status" text DEFAULT 'processando' NOT NULL,
	"next_try_at" timestamp with time zone DEFAULT now(),
	"tries" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"pending" boolean DEFAULT false NOT NULL,
	"last_answer" text,
	"protocol" text,
	"contradiction" json,
	CONSTRAINT "registrations_status" CHECK (status in ('processando', 'concluida', 'falhou')),
	CONSTRAINT "registrations_due_iff_open" CHECK ((status = 'processando') = (next_try_at is not null))
);
--> statement-breakpoint
CREATE TABLE "event_types" (
	"name" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"families" text[] NOT NULL,
	"payload" json,
	"keys" text[] NOT NULL,
	"kinds" text[] NOT NULL,
	"formats" text[] NOT NULL,
	"optional" text[] NOT NULL,
	"least" integer NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "event_types_kind" CHECK (kind in ('emitted', 'internal', 'notice', 'reserved'))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "events_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"version" integer NOT NULL,
	"fan_out" smallint,
	"catalog_version" smallint,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"imported" boolean DEFAULT false NOT NULL,
	"is_of_loan" boolean,
	"id" uuid DEFAULT uuidv7() NOT NULL,
	"stream" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"type" text NOT NULL,
	"other_family" text,
	"data" json NOT NULL,
	"actor" text NOT NULL,
	"request_id" text,
	"seen" "pg_snapshot",
	"traceparent" text,
	"salt" "bytea" DEFAULT uuid_send(gen_random_uuid()),
	"commitment" "bytea",
	"loan_version" integer generated always as (case when is_of_loan then version end) virtual,
	"family" text generated always as (coalesce(other_family, 'backoffice')) virtual,
	"snapshot" text generated always as (case when fan_out is not null then coalesce(seen::text, tx::text || ':' || tx::text || ':') end) virtual,
	CONSTRAINT "events_pkey" PRIMARY KEY("stream","version"),
	CONSTRAINT "events_id" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "history_batches" (
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"position" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "projections" (
	"name" text PRIMARY KEY NOT NULL,
	"epoch" smallint DEFAULT 0 NOT NULL,
	"tx" "xid8" NOT NULL,
	"position" bigint NOT NULL,
	"passed_at" timestamp with time zone,
	"mark_epoch" smallint,
	"mark_tx" "xid8",
	"mark_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "balance_days" (
	"day" text PRIMARY KEY NOT NULL,
	"lines" json NOT NULL,
	"differences" json NOT NULL,
	"first_seal" bigint,
	"last_seal" bigint NOT NULL,
	"leaf" "bytea" NOT NULL,
	CONSTRAINT "balance_days_seals" CHECK (coalesce(first_seal, 1) between 1 and last_seal)
);
--> statement-breakpoint
CREATE TABLE "balance_verdicts" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "balance_verdicts_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"from_day" text NOT NULL,
	"to_day" text NOT NULL,
	"closes" boolean NOT NULL,
	"differences" integer NOT NULL,
	"checked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "balance_verdicts_differences" CHECK (differences >= 0 and (closes or differences > 0))
);
--> statement-breakpoint
CREATE TABLE "processes" (
	"name" text PRIMARY KEY NOT NULL,
	"role" text NOT NULL,
	"host" text NOT NULL,
	"version" text NOT NULL,
	"keys" text[] NOT NULL,
	"certificates" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "scheduled_jobs" (
	"name" text PRIMARY KEY NOT NULL,
	"schedule" text,
	"next_at" timestamp with time zone,
	"run_by" text,
	"run_until" timestamp with time zone,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"succeeded_at" timestamp with time zone,
	"exit_code" integer,
	"result" text,
	"known_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "scheduled_jobs_run" CHECK ((run_by is null) = (run_until is null)),
	CONSTRAINT "scheduled_jobs_off" CHECK (schedule is not null or next_at is null)
);
--> statement-breakpoint
CREATE TABLE "send_faults" (
	"webhook_id" uuid PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "system_history" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "system_history_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"about" text NOT NULL,
	"name" text NOT NULL,
	"value" text,
	"actor" text NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "system_history_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0),
	CONSTRAINT "system_history_about" CHECK (about in ('catalogo', 'configuracao'))
);
--> statement-breakpoint
CREATE TABLE "verify_verdicts" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "verify_verdicts_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"since" bigint NOT NULL,
	"seals" bigint NOT NULL,
	"rows" bigint NOT NULL,
	"size" bigint NOT NULL,
	"root" "bytea",
	"findings" integer NOT NULL,
	"found" json NOT NULL,
	"finished" boolean NOT NULL,
	"checked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "verify_verdicts_head" CHECK ((size > 0) = (root is not null) and least(since, seals, rows, size, findings) >= 0)
);
--> statement-breakpoint
CREATE TABLE "partner_history" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "partner_history_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"partner_id" uuid NOT NULL,
	"name" text NOT NULL,
	"active" boolean NOT NULL,
	"signing" text NOT NULL,
	"documents" text NOT NULL,
	"issuance" text NOT NULL,
	"change" text NOT NULL,
	"actor" text NOT NULL,
	"reason" text,
	"changed_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "partner_history_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0),
	CONSTRAINT "partner_history_change" CHECK (change in ('criacao', 'alteracao', 'desativacao', 'reativacao', 'avisos'))
);
--> statement-breakpoint
CREATE TABLE "partners" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"name" text NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"signing" text DEFAULT 'internal' NOT NULL,
	"documents" text DEFAULT 'agrupada' NOT NULL,
	"issuance" text DEFAULT 'sincrona' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "partners_signing" CHECK (signing in ('internal', 'externa')),
	CONSTRAINT "partners_documents" CHECK (documents in ('agrupada', 'diferida')),
	CONSTRAINT "partners_issuance" CHECK (issuance in ('sincrona', 'assincrona'))
);
--> statement-breakpoint
CREATE TABLE "webhook_history" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_history_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"webhook_id" uuid NOT NULL,
	"partner_id" uuid NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"active" boolean NOT NULL,
	"change" text DEFAULT 'criacao' NOT NULL,
	"actor" text NOT NULL,
	"reason" text,
	"request_id" uuid,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"takes_effect_at" timestamp (3) with time zone,
	"epoch" smallint DEFAULT (('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + 0)::smallint NOT NULL,
	"tx" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "webhook_history_place" CHECK (epoch >= 0 and xid8send(tx)::bigint >= 0),
	CONSTRAINT "webhook_history_times" CHECK (isfinite(changed_at) and isfinite(takes_effect_at) is not false),
	CONSTRAINT "webhook_history_change" CHECK (change in ('criacao', 'alteracao', 'desativacao', 'reativacao', 'segredo_trocado', 'segredo_agendado', 'segredo_ativado', 'segredo_descartado', 'segredo_anterior_encerrado', 'silenciamento', 'fim_do_silenciamento', 'falhando', 'fim_da_falha', 'suspensao', 'ordem_por_emprestimo', 'ordem_nenhuma', 'limite', 'credenciais', 'fim_das_credenciais'))
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"partner_id" uuid NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"encrypted_secret" "bytea" NOT NULL,
	"signs_from" timestamp with time zone,
	"previous_encrypted_secret" "bytea",
	"previous_until" timestamp with time zone,
	"encrypted_credentials" "bytea",
	"certificate_until" timestamp with time zone,
	"refusals" integer,
	"quiet_until" timestamp with time zone,
	"active" boolean DEFAULT true NOT NULL,
	"label" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhooks_signs_from" CHECK (signs_from is null or coalesce(signs_from < previous_until, false)),
	CONSTRAINT "webhooks_previous" CHECK ((previous_encrypted_secret is null) = (previous_until is null))
);
--> statement-breakpoint
CREATE TABLE "simulated_answers" (
	"registration_id" uuid PRIMARY KEY NOT NULL,
	"answer" json NOT NULL,
	"ready_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "simulated_bonds" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"kind" text NOT NULL,
	"partner_id" uuid NOT NULL,
	"loan_id" uuid NOT NULL,
	"data" json NOT NULL,
	"known_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "simulated_bonds_kind" CHECK (kind in ('ended', 'new'))
);
--> statement-breakpoint
CREATE TABLE "simulated_margins" (
	"partner_id" uuid NOT NULL,
	"worker_cpf" text NOT NULL,
	"employer_cnpj" text NOT NULL,
	"earnings_centavos" bigint,
	"margin_centavos" bigint,
	"error_kind" text,
	"error" text,
	CONSTRAINT "simulated_margins_pkey" PRIMARY KEY("partner_id","worker_cpf","employer_cnpj"),
	CONSTRAINT "simulated_margins_answer" CHECK ((error_kind is null) = (earnings_centavos is not null and margin_centavos is not null))
);
--> statement-breakpoint
CREATE TABLE "simulated_registrations" (
	"loan_id" uuid PRIMARY KEY NOT NULL,
	"error" text
);
--> statement-breakpoint
ALTER TABLE "alert_addresses" ADD CONSTRAINT "alert_addresses_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conformance_runs" ADD CONSTRAINT "conformance_runs_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "erasure_pages" ADD CONSTRAINT "erasure_pages_order_id_erasure_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."erasure_orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "erasures" ADD CONSTRAINT "erasures_order_id_erasure_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."erasure_orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "anchor_receipts" ADD CONSTRAINT "anchor_receipts_size_checkpoints_size_fk" FOREIGN KEY ("size") REFERENCES "public"."checkpoints"("size") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "send_orders" ADD CONSTRAINT "send_orders_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bond_records" ADD CONSTRAINT "bond_records_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "margin_queries" ADD CONSTRAINT "margin_queries_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "settled_installments" ADD CONSTRAINT "settled_installments_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "settled_installments" ADD CONSTRAINT "settled_installments_settlement_id_settlements_id_fk" FOREIGN KEY ("settlement_id") REFERENCES "public"."settlements"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "settlements" ADD CONSTRAINT "settlements_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "documents" ADD CONSTRAINT "documents_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "loans" ADD CONSTRAINT "loans_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "partner_history" ADD CONSTRAINT "partner_history_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_history" ADD CONSTRAINT "webhook_history_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "simulated_bonds" ADD CONSTRAINT "simulated_bonds_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "simulated_registrations" ADD CONSTRAINT "simulated_registrations_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alerts_due" ON "alerts" USING btree ("channel","attempts","due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "alerts_by_partner" ON "alerts" USING btree ("partner_id","created_at");--> statement-breakpoint
CREATE INDEX "archive_acts_newest" ON "archive_acts" USING btree ("month","position");--> statement-breakpoint
CREATE INDEX "archive_acts_sealable" ON "archive_acts" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "conformance_runs_under_way" ON "conformance_runs" USING btree ("webhook_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "conformance_runs_by_webhook" ON "conformance_runs" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "claims_of" ON "claims" USING btree ("poller","number");--> statement-breakpoint
CREATE INDEX "deliveries_stopped" ON "deliveries" USING btree ("webhook_id","stopped","event_id") WHERE stopped is not null;--> statement-breakpoint
CREATE INDEX "lanes_kept" ON "lanes" USING btree (coalesce(keeper, ''));--> statement-breakpoint
CREATE INDEX "lanes_changed" ON "lanes" USING btree ("keeper") WHERE changed;--> statement-breakpoint
CREATE INDEX "lanes_stopped" ON "lanes" USING btree ("webhook_id") WHERE muted_at is not null or failing_since is not null;--> statement-breakpoint
CREATE INDEX "pending_by_tx" ON "pending" USING btree ("tx") WHERE tx is not null;--> statement-breakpoint
CREATE INDEX "cpf_reads_sealable" ON "cpf_reads" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "erasure_orders_sealable" ON "erasure_orders" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "erasure_pages_sealable" ON "erasure_pages" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "worker_events_by_digest" ON "worker_events" USING btree ("digest");--> statement-breakpoint
CREATE INDEX "attempts_by_partner" ON "attempts" USING btree ("partner_id","recorded_at");--> statement-breakpoint
CREATE INDEX "attempts_in_time" ON "attempts" USING btree ("recorded_at");--> statement-breakpoint
CREATE INDEX "attempts_sealable" ON "attempts" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "attempts_erased" ON "attempts" USING btree ("event_id") WHERE salt is null;--> statement-breakpoint
CREATE INDEX "attempts_failed" ON "attempts" USING btree ("outcome","recorded_at") WHERE outcome <> 'entregue';--> statement-breakpoint
CREATE INDEX "checkpoints_signed_at" ON "checkpoints" USING btree ("signed_at");--> statement-breakpoint
CREATE INDEX "send_orders_by_webhook" ON "send_orders" USING btree ("webhook_id","position");--> statement-breakpoint
CREATE INDEX "send_orders_by_delivery" ON "send_orders" USING gin ("delivery_ids") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "send_orders_in_time" ON "send_orders" USING btree ("ordered_at","position");--> statement-breakpoint
CREATE INDEX "send_orders_sealable" ON "send_orders" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "bond_records_open" ON "bond_records" USING btree ("id") WHERE detected_at is null;--> statement-breakpoint
CREATE INDEX "bond_records_detected" ON "bond_records" USING btree ("partner_id","kind","detected_at","id") WHERE detected_at is not null;--> statement-breakpoint
CREATE INDEX "bonds_unknown_loan" ON "bonds_unknown" USING btree ("loan_id");--> statement-breakpoint
CREATE INDEX "margin_queries_latest" ON "margin_queries" USING btree ("partner_id","worker_cpf","employer_cnpj","queried_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_subject" ON "idempotency_keys" USING btree (coalesce(body ->> 'id', body ->> 'emprestimo_id', body ->> 'autorizacao_id', body ->> 'consulta_margem_id')) WHERE body is not null;--> statement-breakpoint
CREATE INDEX "loans_disbursed" ON "loans" USING btree ("partner_id","id") WHERE state ->> 'status' = 'desembolsada';--> statement-breakpoint
CREATE INDEX "loans_away" ON "loans" USING btree ("away_to") WHERE away_digest is not null;--> statement-breakpoint
CREATE INDEX "loans_away_by_worker" ON "loans" USING btree ("away_worker") WHERE away_worker is not null;--> statement-breakpoint
CREATE INDEX "loans_leaving" ON "loans" USING btree ("id") WHERE is_leaving;--> statement-breakpoint
CREATE INDEX "registrations_due" ON "registrations" USING btree ("next_try_at") WHERE status = 'processando';--> statement-breakpoint
CREATE UNIQUE INDEX "registrations_protocol" ON "registrations" USING btree ("protocol");--> statement-breakpoint
CREATE UNIQUE INDEX "registrations_one_open" ON "registrations" USING btree ("loan_id") WHERE status = 'processando';--> statement-breakpoint
CREATE INDEX "events_in_order" ON "events" USING btree ("partner_id","imported","epoch","tx");--> statement-breakpoint
CREATE INDEX "events_sealable" ON "events" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "events_erased" ON "events" USING btree ("id") WHERE salt is null;--> statement-breakpoint
CREATE INDEX "events_by_day" ON "events" USING brin ("occurred_at") WITH (autosummarize=true) WHERE not imported;--> statement-breakpoint
CREATE INDEX "events_imported_by_day" ON "events" USING btree ("occurred_at","partner_id") WHERE imported;--> statement-breakpoint
CREATE INDEX "history_batches_in_order" ON "history_batches" USING btree ("epoch","tx");--> statement-breakpoint
CREATE INDEX "system_history_of" ON "system_history" USING btree ("about","name","position");--> statement-breakpoint
CREATE INDEX "system_history_sealable" ON "system_history" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "verify_verdicts_whole" ON "verify_verdicts" USING btree ("position") WHERE finished and since = 0;--> statement-breakpoint
CREATE INDEX "partner_history_by_partner" ON "partner_history" USING btree ("partner_id","position");--> statement-breakpoint
CREATE INDEX "partner_history_in_time" ON "partner_history" USING btree ("changed_at","position");--> statement-breakpoint
CREATE INDEX "partner_history_sealable" ON "partner_history" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "webhook_history_by_webhook" ON "webhook_history" USING btree ("webhook_id","position");--> statement-breakpoint
CREATE INDEX "webhook_history_in_time" ON "webhook_history" USING btree ("changed_at","position");--> statement-breakpoint
CREATE INDEX "webhook_history_sealable" ON "webhook_history" USING brin (epoch,(xid8send(tx)::bigint)) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "webhooks_active_by_partner" ON "webhooks" USING btree ("partner_id","id") WHERE active;--> statement-breakpoint
CREATE INDEX "webhooks_by_partner" ON "webhooks" USING btree ("partner_id","id");--> statement-breakpoint
CREATE INDEX "webhooks_by_certificate" ON "webhooks" USING btree ("certificate_until") WHERE certificate_until is not null;--> statement-breakpoint
CREATE INDEX "simulated_bonds_window" ON "simulated_bonds" USING btree ("kind","known_at");