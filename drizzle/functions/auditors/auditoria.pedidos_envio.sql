drop view if exists carteiro_auditoria.pedidos_envio;
create view carteiro_auditoria.pedidos_envio as
select position as posicao, kind as tipo, webhook_id, partner_id as parceiro_id, delivery_ids as entregas,
       masked(actor) as autor, masked(reason) as motivo, request_id as requisicao_id, ordered_at as pedido_em, epoch as epoca, tx as transacao
from send_orders;
