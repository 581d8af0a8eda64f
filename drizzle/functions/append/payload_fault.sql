-- The first fault of an event's payload by key, or null: keys (in any order; optional ones may be absent), JSON types and formats must be
-- the catalog's. A nested key is named as `novo_empregador.cnpj`. Values are not repeated, because they may hold a CPF.
create or replace function payload_fault(known event_types, data json) returns text
  language plpgsql stable set search_path from current set extra_float_digits = 1
as $$
declare
  fault text;
begin
  if data is null or json_typeof(data) <> 'object' then
    return format('it must be an object, not %s', coalesce(json_typeof(data), 'null'));
  end if;
  if not pg_input_is_valid(data::text, 'jsonb') then
    return E'it holds the character \\u0000, half of a surrogate pair, or a number without end';
  end if;
  with flat as (
    select row_number() over (order by n, m) as i, key, value
    from (
      select key, value, n, 0::bigint as m from json_each(data) with ordinality as top (key, value, n)
      union all
      select top.key || '.' || inner_key, inner_value, n, m
      from json_each(data) with ordinality as top (key, value, n)
      cross join lateral json_each(case when json_typeof(value) = 'object' then value else '{}' end)
        with ordinality as inside (inner_key, inner_value, m)
    ) all_keys
  ),
  wanted as (
    select *, key = any (known.optional) or key like '%.%' and not exists (
             select from flat where flat.key = split_part(field.key, '.', 1) and json_typeof(flat.value) = 'object') as may_lack
    from unnest(known.keys, known.kinds, known.formats) with ordinality as field (key, kind, format, i)
  )
  select what into fault
  from (
    select 1 as rank, min(i) as i, format('the key "%s" stands twice', key) as what from flat group by key having count(*) > 1
    union all
    select 2, i, format('the key "%s" is unknown', key) from flat where key <> all (known.keys)
    union all
    select 3, i, format('the key "%s" is missing', key) from wanted where not may_lack and key not in (select key from flat)
    union all
    select 4, wanted.i, case
        when json_typeof(flat.value) <> all (string_to_array(kind, ','))
          then format('"%s" must be %s, not %s', key, replace(kind, ',', ' or '), json_typeof(flat.value))
        when format = 'month' then format('"%s" must be a month from 2000-01 to this one', key)
        when format = 'number' then format('"%s" must be a number that an IEEE double carries unchanged', key)
        when format like 'money%' then format('"%s" must be an amount%s of at most two decimals, below 10^13, without an exponent', key, substr(format, 6))
        when format in ('cpf', 'cnpj') then format('"%s" must be a %s without punctuation, with its check digits', key, upper(format))
        when format like 'text %' then format('"%s" must have 1 to %s characters, not all blank, none of them a control character', key, substr(format, 6))
        when format like 'whole %' then format('"%s" must be a whole number from %s', key, substr(format, 7))
        when format like '^(%)$' then format('"%s" must be one of %s', key, replace(substr(format, 3, length(format) - 4), '|', ', '))
        else format('"%s" is not of the form %s', key, replace(format, 'stream', 'uuid'))
      end
    from flat join wanted using (key)
    where json_typeof(flat.value) <> all (string_to_array(kind, ',')) or not has_format(flat.value #>> '{}', format)
  ) faults
  order by rank, i
  limit 1;
  return fault;
end
$$;
