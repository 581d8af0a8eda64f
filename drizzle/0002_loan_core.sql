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
	CONSTRAINT "bond_records_once" UNIQUE("kind","reference"),
	CONSTRAINT "bond_records_kind" CHECK (kind in ('ended', 'new')),
	CONSTRAINT "bond_records_emitted" CHECK ((detected_at is null) = (emitted is null))
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
	CONSTRAINT "margin_queries_amounts" CHECK (earnings_centavos >= 0 and margin_centavos >= 0)
);
--> statement-breakpoint
CREATE TABLE "settled_installments" (
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
CREATE TABLE "simulated_answers" (
	"registration_id" uuid PRIMARY KEY NOT NULL,
	"answer" json NOT NULL
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
CREATE TABLE "sync_windows" (
	"name" text PRIMARY KEY NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "bond_records" ADD CONSTRAINT "bond_records_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "documents" ADD CONSTRAINT "documents_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "margin_queries" ADD CONSTRAINT "margin_queries_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "settled_installments" ADD CONSTRAINT "settled_installments_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "settled_installments" ADD CONSTRAINT "settled_installments_settlement_id_settlements_id_fk" FOREIGN KEY ("settlement_id") REFERENCES "public"."settlements"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "settlements" ADD CONSTRAINT "settlements_partner_id_partners_id_fk" FOREIGN KEY ("partner_id") REFERENCES "public"."partners"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "simulated_bonds" ADD CONSTRAINT "simulated_bonds_loan_id_loans_id_fk" FOREIGN KEY ("loan_id") REFERENCES "public"."loans"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "bond_records_open" ON "bond_records" USING btree ("id") WHERE detected_at is null;--> statement-breakpoint
CREATE INDEX "bond_records_detected" ON "bond_records" USING btree ("partner_id","kind","detected_at","id") WHERE detected_at is not null;--> statement-breakpoint
CREATE INDEX "margin_queries_latest" ON "margin_queries" USING btree ("partner_id","worker_cpf","employer_cnpj","queried_at");--> statement-breakpoint
CREATE INDEX "simulated_bonds_window" ON "simulated_bonds" USING btree ("kind","known_at");--> statement-breakpoint
CREATE INDEX "loans_disbursed" ON "loans" USING btree ("partner_id","id") WHERE status = 'desembolsada';