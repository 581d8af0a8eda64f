-- The envelope's exact bytes, keys in the order evento, timestamp, parceiro_id, data. The auction family has no
-- parceiro_id. `data` is concatenated as it came: jsonb would reorder its keys.
-- It has a value for whatever row there is, and a short one: a time that is not finite stands as its name, and a payload of
-- more than 1 MiB as null. `append_event` takes neither; such an envelope is sent to nobody (src/contract/legible.ts).
create or replace function envelope(type text, occurred_at timestamptz, family text, partner_id uuid, data json) returns bytea
language sql stable parallel safe
return convert_to(
  '{"evento":' || to_json(type)::text
  || ',"timestamp":"' || coalesce(to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), occurred_at::text) || '"'
  || case family when 'leilao' then '' else ',"parceiro_id":"' || partner_id || '"' end
  || ',"data":' || case when octet_length(data::text) <= 1048576 then data::text else 'null' end || '}',
  'UTF8');
