-- Whether a value's text is of a catalog's format: a named one, or a regular expression; null fits. `month`: 2000-01 to the current one in
-- São Paulo. `number`, `money`: read back unchanged by IEEE doubles. `stream`: the event's own stream id. `text 200`: 1 to 200 characters,
-- not all blank (by JavaScript's trim), no control characters. `whole 1 to 96`: an integer.
create or replace function has_format(value text, format text) returns boolean
  language sql stable parallel safe
return case
  when value is null or format is null then true
  when format like '^%' then value ~ format
  when format in ('cpf', 'cnpj') then has_check_digits(value, format)
  when format like 'text %' then length(value) <= split_part(format, ' ', 2)::int and value !~ '[\u0001-\u001f\u007f-\u009f]'
    and value ~ '[^ \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]'
  when format like 'whole %' then value ~ '^-?[0-9]{1,15}$' and value::bigint between split_part(format, ' ', 2)::bigint and split_part(format, ' ', 4)::bigint
  when format in ('uuid', 'stream') then value like '________-____-____-____-____________' and pg_input_is_valid(value, 'uuid')
  when format = 'date' then value ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' and pg_input_is_valid(value, 'date')
  when format = 'timestamptz' then value ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{3}Z$'
    and pg_input_is_valid(value, 'timestamptz')
  when format = 'month' then value ~ '^[2-9][0-9]{3}-(0[1-9]|1[0-2])$'
    and value <= to_char(now() at time zone 'America/Sao_Paulo', 'YYYY-MM')
  when format = 'money' then value ~ '^-?[0-9]{1,13}([.][0-9]{1,2})?$'
  when format = 'money >= 0' then value ~ '^[0-9]{1,13}([.][0-9]{1,2})?$'
  when format = 'money > 0' then value ~ '^[0-9]{1,13}([.][0-9]{1,2})?$' and value ~ '[1-9]'
  when format = 'number' then pg_input_is_valid(value, 'float8') and value::float8::text::numeric = value::numeric
end;
