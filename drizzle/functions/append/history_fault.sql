-- What is wrong with the keys of an event that append_history is given, or null; `data` is looked at elsewhere. It names the key
-- and the rule and repeats no value, because a CPF may stand where it does not belong.
create or replace function history_fault(event json) returns text
  language sql stable parallel safe set search_path from current
return case
  when event is null or json_typeof(event) <> 'object' then 'it must be an object'
  when strpos(event::text, '\u') > 0 and not pg_input_is_valid(event::text, 'jsonb')
    then 'it holds the character \u0000 or half of a surrogate pair'
  else (
  select case
      when names.twice is not null then names.twice || ': stands twice'
      when names.strange is not null
        then format('%s: is unknown; the keys are stream, version, type, partner_id, occurred_at, data, family, actor, request_id', to_json(left(names.strange, 40)))
      when stream is null or not has_format(stream, 'uuid') then 'stream: must be a UUID'
      when version is null or version !~ '^[1-9][0-9]{0,8}$' then 'version: must be a whole number, from 1'
      when type is null then 'type: is missing'
      when partner_id is null or not has_format(partner_id, 'uuid') then 'partner_id: must be a UUID'
      when occurred_at is null or occurred_at !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})$'
           or not pg_input_is_valid(occurred_at, 'timestamptz') then 'occurred_at: must be an instant as 2025-03-31T12:00:00.000Z'
      when occurred_at::timestamptz < '2000-01-01T00:00Z' then 'occurred_at: lies before the year 2000'
      when occurred_at::timestamptz > clock_timestamp() then 'occurred_at: lies in the future'
      when data is null then 'data: is missing'
      when actor !~ '^[^[:cntrl:]]+$' or length(actor) > 200 then 'actor: must have 1 to 200 characters, none of them a control character'
      when request_id !~ '^[[:graph:]]+$' or length(request_id) > 64 then 'request_id: must have 1 to 64 visible characters, without a space'
    end
  from json_to_record(event) as line (stream text, version text, type text, partner_id text, occurred_at text, data json, actor text,
                                      request_id text),
    (select min(key) filter (where times > 1) as twice,
            min(key) filter (where key <> all ('{stream,version,type,partner_id,occurred_at,data,family,actor,request_id}')) as strange
     from (select key, count(*) as times from json_object_keys(event) key group by key) counted) names
) end;
