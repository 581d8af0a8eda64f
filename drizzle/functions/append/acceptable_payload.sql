-- For append_event, when usual_event is not sure: the payload as the log takes it, with its keys in the catalog's order.
-- Or it says what is wrong with the event; if nothing is wrong and it was not appended, another append was first.
create or replace function acceptable_payload(p_stream uuid, p_type text, p_partner_id uuid, p_family text, p_data json)
  returns json
  language plpgsql stable set search_path from current
as $$
declare
  known event_types;
  fault text;
  ordered json;
begin
  select * into known from event_types where name = p_type;
  if not found then
    raise exception 'the event type "%" is unknown', p_type
      using errcode = 'CT404', hint = 'select name from event_types lists them';
  elsif known.kind = 'reserved' then
    raise exception 'the event type "%" is reserved and never emitted', p_type
      using errcode = 'CT404', hint = 'select name from event_types where kind <> ''reserved'' lists the others';
  elsif known.kind = 'notice' then
    raise exception 'the event type "%" is a notice, which the service alone sends', p_type
      using errcode = 'CT404', hint = 'select name from event_types where kind in (''emitted'', ''internal'') lists what can be appended';
  elsif p_family <> all (known.families) or p_family is null then
    raise exception 'the event type "%" is not of the family "%"', p_type, p_family
      using errcode = 'CT404', hint = format('its families: %s', array_to_string(known.families, ', '));
  end if;
  -- A usual payload whose keys stand in another order, as jsonb has them, fits once they are in order: a tenth of what naming faults takes.
  if json_typeof(p_data) = 'object' and strpos(p_data::text, E'\\') = 0 then
    ordered := in_catalog_order(known, p_data);
  end if;
  fault := case when (usual_event(p_type, p_family, ordered::text, p_stream::text)).version is null then payload_fault(known, p_data) end;
  if fault is not null then
    raise exception 'the payload of "%" does not fit: %', p_type, fault
      using errcode = 'CT400',
            hint = format('its keys: %s%s', array_to_string(known.keys, ', '),
                          '; of these may be absent: ' || nullif(array_to_string(known.optional, ', '), ''));
  end if;
  ordered := coalesce(ordered, in_catalog_order(known, p_data));
  if ordered ->> 'emprestimo_id' <> p_stream::text then
    raise exception 'the payload of "%" names the loan %, and the stream is %', p_type, ordered ->> 'emprestimo_id', p_stream
      using errcode = 'CT403', hint = 'append to the stream of the loan that emprestimo_id names';
  end if;
  if not exists (select from partners where id = p_partner_id) then
    raise exception 'there is no partner %', p_partner_id using errcode = 'CT403', hint = 'make it with `partner create`';
  end if;
  if exists (select from events where stream = p_stream and partner_id <> p_partner_id) then
    raise exception 'stream % is not of partner %', p_stream, p_partner_id
      using errcode = 'CT403', hint = 'append for the partner of the stream''s first event';
  end if;
  if exists (select from events where stream = p_stream and salt is null and data ->> 'cpf_trabalhador' = 'apagado') then
    raise exception 'the data of stream % were erased', p_stream
      using errcode = 'CT403', hint = 'the order to erase is in erasure_orders; nothing more can be appended to the stream';
  end if;
  return ordered;
end
$$;
