-- A text as an auditor may read it: masked, unless the reader was granted to see CPFs.
create or replace function masked(content text) returns text
language sql stable parallel safe set search_path from current
return case when pg_has_role('carteiro_auditor_cpf', 'usage') then content else mask(content) end;
