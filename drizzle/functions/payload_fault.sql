-- What is wrong with an event's payload, or null: its keys, their order, their JSON types and their formats must be the
-- catalog's (`event_types`). Keys of an object inside it stand behind it, as `novo_empregador.cnpj`. Only the first fault
-- is told, by the key's name; values are not repeated, because a CPF may be among them.
-- append_event asks it only when its own quick look has found something, or the payload has an object inside.
create or replace function payload_fault(keys text[], kinds text[], formats text[], data json) returns text
  language plpgsql stable set search_path from current
as $$
declare
  fault text;
begin
  if data is null or json_typeof(data) <> 'object' then
    return format('it must be an object, not %s', coalesce(json_typeof(data), 'null'));
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
    select * from unnest(keys, kinds, formats) with ordinality as field (key, kind, format, i)
  )
  select case
      when flat.key is null then format('the key "%s" is missing', wanted.key)
      when wanted.key is null or flat.key <> all (keys) then format('the key "%s" is unknown', flat.key)
      when flat.key <> wanted.key and wanted.key not in (select key from flat)
        then format('the key "%s" is missing', wanted.key)
      when flat.key <> wanted.key then format('the key "%s" stands where "%s" belongs', flat.key, wanted.key)
      when json_typeof(flat.value) <> all (string_to_array(wanted.kind, ','))
        then format('"%s" must be %s, not %s', flat.key, replace(wanted.kind, ',', ' or '), json_typeof(flat.value))
      else format('"%s" is not of the form %s', flat.key, wanted.format)
    end
  into fault
  from flat
  full join wanted using (i)
  where flat.key is distinct from wanted.key
     or json_typeof(flat.value) <> all (string_to_array(wanted.kind, ','))
     or not has_format(flat.value #>> '{}', wanted.format)
  order by i
  limit 1;
  return fault;
end
$$;
