-- The envelope's exact bytes, keys in the order evento, timestamp, parceiro_id, data; the auction family has no parceiro_id. `data` is
-- concatenated as text, because jsonb would reorder its keys. Total and bounded: an infinite time stands as its name, a payload over 1 MiB
-- as null. `append_event` refuses both, and such an envelope is never sent (src/contract/legible.ts).
create or replace function envelope(type text, occurred_at timestamptz, family text, partner_id uuid, data json) returns bytea
language sql stable parallel safe
return convert_to(
  '{"evento":' || to_json(type)::text
  || ',"timestamp":"' || coalesce(to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), occurred_at::text) || '"'
  || case family when 'leilao' then '' else ',"parceiro_id":"' || partner_id || '"' end
  || ',"data":' || case when octet_length(data::text) <= 1048576 then data::text else 'null' end || '}',
  'UTF8');
