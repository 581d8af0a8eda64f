-- The envelope's exact bytes, keys in the order evento, timestamp, parceiro_id, data. The auction family has no
-- parceiro_id. `data` is concatenated as it came: jsonb would reorder its keys.
create or replace function envelope(type text, occurred_at timestamptz, family text, partner_id uuid, data json) returns bytea
language sql stable parallel safe
return convert_to(
  '{"evento":' || to_json(type)::text
  || ',"timestamp":"' || to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'
  || case family when 'leilao' then '' else ',"parceiro_id":"' || partner_id || '"' end
  || ',"data":' || data::text || '}',
  'UTF8');
