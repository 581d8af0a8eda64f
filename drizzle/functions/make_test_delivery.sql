-- One test delivery of `p_type` to one webhook, due now: a message and a delivery without a row in the log. Its name must
-- not be one of the catalog, so that no event can be forged with it.
create or replace function make_test_delivery(p_webhook_id uuid, p_partner_id uuid, p_type text, p_data json) returns uuid
  language plpgsql security definer set search_path from current
as $$
declare
  made uuid;
begin
  if exists (select from event_types where name = p_type) then
    raise exception '% is an event of the catalog, not a test', p_type using errcode = 'CT404';
  end if;
  with message as (
    insert into messages (event_id, partner_id, type, body, fan_out, snapshot)
    values (uuidv7(), p_partner_id, p_type, envelope(p_type, clock_timestamp(), 'backoffice', p_partner_id, p_data),
            1, pg_current_snapshot())
    returning event_id
  ),
  arrival as (
    insert into arrivals (webhook_id) values (p_webhook_id)
  )
  insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
  select event_id, p_webhook_id, p_partner_id, now() from message
  returning id into made;
  return made;
end
$$;
