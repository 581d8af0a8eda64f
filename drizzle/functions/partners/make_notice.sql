-- Notifies a webhook's partner and the operator: an event each on its own stream, delivered to every other active webhook that subscribes
-- to the notice. The partner's event is made even without a subscriber, for its feed. Returns the number of deliveries. A notice is in the
-- catalog but no fact: append_event refuses it, and the balance does not count it.
create or replace function make_notice(p_webhook_id uuid, p_type text, p_data json) returns integer
  language plpgsql security definer set search_path from current
as $$
declare
  known event_types;
  fault text;
  made integer;
begin
  select * into known from event_types where name = p_type and kind = 'notice';
  if not found then
    raise exception '"%" is no notice of the catalog', p_type using errcode = 'CT404';
  end if;
  fault := payload_fault(known, p_data);
  if fault is not null then
    raise exception 'the payload of "%" does not fit: %', p_type, fault using errcode = 'CT400';
  end if;
  with told as materialized (
    select p.id
    from partners p
    where p.active
      and (p.id = (select partner_id from webhooks where id = p_webhook_id)
           or p.id = operator_partner() and exists (select from webhooks where partner_id = p.id and active))
  ),
  hook as materialized (
    select w.id, w.partner_id
    from told
    join webhooks w on w.partner_id = told.id
    where w.active and p_type = any (w.events) and w.id <> p_webhook_id
  ),
  event as (
    insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, catalog_version, seen)
    select uuidv7(), 1, p_type, told.id, p_data, date_trunc('milliseconds', clock_timestamp()), 'servico',
           (select count(*) from hook where hook.partner_id = told.id), known.version, seen_beside_others()
    from told
    returning id, partner_id
  ),
  delivery as (
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select event.id, hook.id, hook.partner_id, now() from event join hook on hook.partner_id = event.partner_id
    returning id, webhook_id, event_id, partner_id
  ),
  queued as (
    insert into pending (webhook_id, delivery_id, event_id, partner_id)
    select webhook_id, id, event_id, partner_id from delivery
  )
  select count(*) into made from delivery;
  return made;
end
$$;
