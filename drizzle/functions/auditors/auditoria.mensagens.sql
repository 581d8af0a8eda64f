drop view if exists carteiro_auditoria.mensagens;
create view carteiro_auditoria.mensagens as
select id as evento_id, partner_id as parceiro_id, type as evento, case when salt is null then 'apagado' else masked(convert_from(body, 'UTF8')) end as corpo,
       case when salt is not null and pg_has_role('carteiro_auditor_cpf', 'usage') then encode(sha256(body), 'hex') end as corpo_sha256,
       fan_out, loan_version as versao_emprestimo, snapshot::pg_snapshot as fotografia
from events
cross join lateral (select envelope(type, occurred_at, family, partner_id, data) as body) message
where fan_out is not null and not imported;
