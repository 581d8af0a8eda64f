-- What is wrong with an event of the log, or null. `append_event` takes no such event; a superuser can write one past it. An event
-- whose worker was forgotten has no salt and says `apagado` where the catalog wants a CPF: that is no fault.
create or replace function event_fault(e events) returns text
  language plpgsql stable set search_path from current
as $$
declare
  known event_types;
begin
  select * into known from event_types where name = e.type and kind in ('emitted', 'internal');
  return case
    when e.occurred_at >= '2000-01-01T00:00Z' and e.occurred_at < '10000-01-01T00:00Z' is not true
      then 'it occurred before the year 2000, after 9999, or never'
    when octet_length(e.data::text) > 1048576 then format('its payload has %s bytes', octet_length(e.data::text))
    when known.name is null then 'its type is unknown, or never appended'
    when e.salt is null and e.type <> 'repasse.processado' then null
    else payload_fault(known, e.data)
  end;
end
$$;
