-- The partner that the operator's own webhook belongs to, which gets the notices about all partners' webhooks. The webhook has
-- the same id. Neither exists until OPERATOR_WEBHOOK_URL is first set (keep_operator_webhook).
create or replace function operator_partner() returns uuid
  language sql immutable parallel safe set search_path from current
return '00000000-0000-4000-8000-00006f706572'::uuid;
