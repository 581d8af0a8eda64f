-- A text as an auditor may read it: with what looks like a CPF masked, unless the reader was granted to see them.
create or replace function masked(content text) returns text
language sql stable parallel safe set search_path from current
return case
  when pg_has_role('carteiro_auditor_cpf', 'usage') then content
  else regexp_replace(content, '\d{3}[.\s-]?\d{3}[.\s-]?\d{3}[-/.\s]?\d{2}\d*', '***********', 'g')
end;
