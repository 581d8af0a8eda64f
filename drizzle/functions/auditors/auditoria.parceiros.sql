drop view if exists carteiro_auditoria.parceiros;
create view carteiro_auditoria.parceiros as
select id, name as nome, active as ativo, created_at as criado_em from partners;
