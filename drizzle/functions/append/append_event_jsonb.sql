-- append_event for a payload that is jsonb. It puts its keys into the catalog's order, and numbers come as jsonb writes them. Its type
-- is a `name`, so that a call whose payload has no type of its own is never ambiguous: `text` is preferred, hence the other one.
create or replace function append_event(
  p_stream uuid,
  p_expected_version bigint,
  p_type name,
  p_partner_id uuid,
  p_data jsonb,
  p_actor text,
  p_request_id text default null,
  p_occurred_at timestamptz default null,
  p_family text default 'backoffice',
  out event_id uuid,
  out fan_out integer
)
  language sql set search_path from current
return append_event(p_stream, p_expected_version, p_type::text, p_partner_id, p_data::text::json, p_actor, p_request_id, p_occurred_at, p_family);
