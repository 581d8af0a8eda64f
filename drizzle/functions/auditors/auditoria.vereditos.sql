drop view if exists carteiro_auditoria.vereditos;
create view carteiro_auditoria.vereditos as
select 'verificacao' as sobre, position as posicao, findings = 0 as confere, findings as achados, since::float8 as desde_selo,
       size::float8 as selos, rows::float8 as linhas, null as de, null as ate, checked_at::timestamptz(3) as em
from verify_verdicts where finished
union all
select 'balanco', position, closes, differences, null, null, null, from_day, to_day, checked_at::timestamptz(3)
from balance_verdicts;
