drop view if exists carteiro_auditoria.historico_webhooks;
create view carteiro_auditoria.historico_webhooks as
select position as posicao, webhook_id, partner_id as parceiro_id, masked(url) as url, events as eventos, active as ativo,
       change as mudanca, masked(actor) as autor, masked(reason) as motivo, request_id as requisicao_id, changed_at as mudado_em, epoch as epoca, tx as transacao,
       takes_effect_at as vale_em
from webhook_history;
