-- A cheap, inlined test that a value's text is of a catalog's format (has_format): an unknown format or an unusual value is not sure.
-- `stream` is the event's. The caller checks for control characters, which a `text` may hold here.
create or replace function is_surely(value text, format text, stream text) returns boolean
  language sql immutable parallel safe
return case
  when value is null or format is null then true
  when format = 'stream' then value = stream
  when format = 'uuid' then
    translate(value, '0123456789abcdef', 'xxxxxxxxxxxxxxxx') = 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'
  when format like 'money%' then
    length(value) <= 13 and translate(value, '0123456789', '') in ('', '.')
    and (value like '%.__' or value like '%._' or strpos(value, '.') = 0) and (format <> 'money > 0' or left(value, 1) > '0')
  when format = 'number' then length(value) <= 15 and translate(value, '0123456789', '') in ('', '.', '-', '-.')
  when format = 'date' then
    translate(value, '0123456789', 'xxxxxxxxxx') = 'xxxx-xx-xx'
    and substr(value, 1, 2) <> '00' and substr(value, 6, 2) between '01' and '12'
    and (substr(value, 9, 2) between '01' and '28' or substr(value, 9, 2) in ('29', '30') and substr(value, 6, 2) <> '02'
         or substr(value, 9, 2) = '31' and substr(value, 6, 2) in ('01', '03', '05', '07', '08', '10', '12'))
  when format like '^%' then value ~ format
  when format in ('cpf', 'cnpj') then has_check_digits(value, format)
  when format like 'text %' then
    length(value) <= split_part(format, ' ', 2)::int and left(value, 1) collate "C" between '0' and 'z'
  when format like 'whole %' then
    length(value) <= 9 and translate(value, '0123456789', '') = ''
    and value::int between split_part(format, ' ', 2)::int and split_part(format, ' ', 4)::int
  else false
end;
