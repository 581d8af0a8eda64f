-- The payload with its keys in the catalog's order and its ids in lower case. One that is so already is given back byte for
-- byte; of another, each value keeps its own text. `above`: the object that `data` lies in, as `novo_empregador.`; deeper ones stay.
create or replace function in_catalog_order(known event_types, data json, above text default '') returns json
  language plpgsql stable set search_path from current
as $$
declare
  as_given text;
  in_order text;
begin
  select string_agg(to_json(key) || ':' || value, ',' order by n),
         string_agg(to_json(key) || ':' || case
           when json_typeof(value) = 'object' and above = '' then in_catalog_order(known, value, above || key || '.')
           when known.formats[place] in ('uuid', 'stream') and json_typeof(value) = 'string' then to_json(lower(value #>> '{}'))
           else value
         end, ',' order by place)
  into as_given, in_order
  from json_each(data) with ordinality as field (key, value, n)
  cross join lateral (select array_position(known.keys, above || key) as place) at;
  return case when in_order is distinct from as_given then ('{' || in_order || '}')::json else data end;
end
$$;
