drop view if exists carteiro_auditoria.webhooks;
create view carteiro_auditoria.webhooks as
select id, partner_id as parceiro_id, masked(url) as url, events as eventos, active as ativo, created_at as criado_em
from webhooks;
