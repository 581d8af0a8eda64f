-- One test delivery of `p_type` to one webhook, due now, on a stream of its own. Its type must not be one of the catalog, so
-- that no event can be forged with it, and no feed, balance or projection counts it.
create or replace function make_test_delivery(p_webhook_id uuid, p_partner_id uuid, p_type text, p_data json, p_actor text)
  returns uuid
  language plpgsql security definer set search_path from current
as $$
declare
  made uuid;
begin
  if exists (select from event_types where name = p_type) then
    raise exception '% is an event of the catalog, not a test', p_type using errcode = 'CT404';
  end if;
  with event as (
    insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
    values (uuidv7(), 1, p_type, p_partner_id, p_data, date_trunc('milliseconds', clock_timestamp()), p_actor, 1,
            seen_beside_others())
    returning id
  ),
  delivery as (
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at, is_test)
    select id, p_webhook_id, p_partner_id, now(), true from event
    returning id
  )
  insert into pending (webhook_id, delivery_id, event_id, partner_id, is_test)
  select p_webhook_id, delivery.id, event.id, p_partner_id, true from event, delivery
  returning delivery_id into made;
  return made;
end
$$;
