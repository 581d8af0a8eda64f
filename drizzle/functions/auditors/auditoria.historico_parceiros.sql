drop view if exists carteiro_auditoria.historico_parceiros;
create view carteiro_auditoria.historico_parceiros as
select position as posicao, partner_id as parceiro_id, name as nome, active as ativo, signing as tipo_assinatura,
       documents as entrega_documentos, issuance as emissao, change as mudanca, masked(actor) as autor,
       masked(reason) as motivo, changed_at as mudado_em, epoch as epoca, tx as transacao
from partner_history;
