CREATE TABLE "cursor_keys" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"key" "bytea" NOT NULL,
	CONSTRAINT "cursor_keys_is_only_check" CHECK ("is_only"),
	CONSTRAINT "cursor_keys_key_check" CHECK (octet_length("key") = 32)
);
--> statement-breakpoint
-- Two random UUIDs are 244 random bits.
insert into cursor_keys (key) values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
--> statement-breakpoint
alter table cursor_keys alter is_only set statistics 20, alter key set statistics 20;
--> statement-breakpoint
alter table cursor_keys owner to carteiro_owner;
--> statement-breakpoint
grant select on cursor_keys to carteiro_app;
