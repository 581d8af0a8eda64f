-- Says why the catalog does not take an event, or returns: append_event's quick look sees no object inside a payload.
create or replace function refuse_event(p_type text, p_family text, p_data json) returns void
  language plpgsql stable set search_path from current
as $$
declare
  known event_types;
  fault text;
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
  fault := payload_fault(known.keys, known.kinds, known.formats, p_data);
  if fault is not null then
    raise exception 'the payload of "%" does not fit: %', p_type, fault
      using errcode = 'CT400', hint = format('its keys, in this order: %s', array_to_string(known.keys, ', '));
  end if;
end
$$;
