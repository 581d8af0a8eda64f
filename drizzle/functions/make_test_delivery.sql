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
  arrival as (
    insert into arrivals (webhook_id, partner_id, kind, due_at) values (p_webhook_id, p_partner_id, 'due', now())
  )
  insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at, is_test)
  select id, p_webhook_id, p_partner_id, now(), true from event
  returning id into made;
  return made;
end
$$;
