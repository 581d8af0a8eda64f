-- A text of `mask` without the walls in the last group of those UUIDs that have a CPF there.
create or replace function lay_cpfs_bare(content text) returns text
language sql immutable strict parallel safe set search_path from current
return (
  select string_agg(before || case when has_check_digits(right(last, 11), 'cpf') or has_check_digits(left(last, 11), 'cpf')
                                   then U&'\E000' || last else coalesce(walled[1], '') end, '' order by n)
  from rows from (
    regexp_split_to_table(content, '\uE000[0-9A-Fa-f]{4}\uE000[0-9A-Fa-f]{4}\uE000[0-9A-Fa-f]{4}\uE000'),
    regexp_matches(content, '\uE000[0-9A-Fa-f]{4}\uE000[0-9A-Fa-f]{4}\uE000[0-9A-Fa-f]{4}\uE000', 'g')
  ) with ordinality as t (before, walled, n)
  cross join lateral (select coalesce(replace(walled[1], U&'\E000', ''), '') as last) group_of_id);
