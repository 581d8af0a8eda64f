-- The data of an event of another worker when a worker is forgotten: in its texts that one CPF, however it is written, is
-- `apagado`. Keys, their order, numbers and all other characters stay.
create or replace function without_cpf(content json, cpf text) returns json
  language plpgsql immutable parallel safe set search_path from current
as $$
declare
  digits constant text[] := array[{{DIGIT_PATTERNS}}];
  written constant text := '(?<![0-9])' || array_to_string(array(
    select digits[digit::int + 1] from regexp_split_to_table(cpf, '') with ordinality as one (digit, n) order by n),
    '{{BETWEEN_DIGITS}}{0,5}') || '(?![0-9])';
begin
  if not pg_input_is_valid(content::text, 'jsonb') or content::text !~ written then
    return content;
  end if;
  case json_typeof(content)
    when 'object' then
      return (
        select '{' || coalesce(string_agg(to_json(key)::text || ':' || without_cpf(value, cpf)::text, ',' order by n), '') || '}'
        from json_each(content) with ordinality as field (key, value, n));
    when 'array' then
      return (
        select '[' || coalesce(string_agg(without_cpf(value, cpf)::text, ',' order by n), '') || ']'
        from json_array_elements(content) with ordinality as element (value, n));
    when 'string' then
      return regexp_replace(content::text, written, 'apagado', 'g');
    else
      return content;
  end case;
end
$$;
