drop view if exists carteiro_auditoria.historico;
create view carteiro_auditoria.historico as
select 'webhook' as sobre, position as posicao, partner_id as parceiro_id, webhook_id, masked(url) as url, events as eventos,
       null as nome, null as tipo_assinatura, null as entrega_documentos, null as emissao, active as ativo, change as mudanca,
       masked(actor) as autor, masked(reason) as motivo, request_id as requisicao_id, changed_at as mudado_em,
       takes_effect_at as vale_em, epoch as epoca, tx as transacao
from webhook_history
union all
select 'parceiro', position, partner_id, null, null, null, name, signing, documents, issuance, active, change, masked(actor),
       masked(reason), null, changed_at, null, epoch, tx
from partner_history;
