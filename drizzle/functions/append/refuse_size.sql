-- Refuses a payload larger than the setting `carteiro.max_payload_kib` allows: 64 where it is not set, and 1024 at most.
create or replace function refuse_size(p_data json) returns void
  language plpgsql stable set search_path from current
as $$
declare
  setting constant text := current_setting('carteiro.max_payload_kib', true);
  max_kib constant int := least(case when setting ~ '^[1-9][0-9]{0,5}$' then setting::int else 64 end, 1024);
begin
  if octet_length(p_data::text) > max_kib * 1024 then
    raise exception 'the payload has % bytes, and % KiB are allowed', octet_length(p_data::text), max_kib
      using errcode = 'CT400', hint = 'an event tells what happened; a document belongs elsewhere. Up to 1024: alter database … set carteiro.max_payload_kib';
  end if;
end
$$;
