-- An event's data after its worker's erasure: every text becomes `apagado`, except listed fields without a CPF (src/contract/erasure.ts).
-- Keys, order, numbers, booleans and null stay. Idempotent. src/audit/seals/remains.ts makes the same.
create or replace function erased(content json) returns json
  language plpgsql immutable parallel safe set search_path from current
as $$
declare
  kept constant text[] := '{{{KEPT_TEXTS}}}';
  forgotten constant text := '(?<![0-9A-Za-z])[0-9]{3}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9]{2}(?![0-9A-Za-z])|apagado';
begin
  if not pg_input_is_valid(content::text, 'jsonb') then
    return '"apagado"';
  end if;
  case json_typeof(content)
    when 'object' then
      return (
        select '{' || coalesce(string_agg(
          to_json(key)::text || ':' ||
          case when json_typeof(value) = 'string' and key = any (kept) and value::text !~ forgotten then value::text
               else erased(value)::text end,
          ',' order by n), '') || '}'
        from json_each(content) with ordinality as field (key, value, n));
    when 'array' then
      return (
        select '[' || coalesce(string_agg(erased(value)::text, ',' order by n), '') || ']'
        from json_array_elements(content) with ordinality as element (value, n));
    when 'string' then
      return '"apagado"';
    else
      return content;
  end case;
end
$$;
