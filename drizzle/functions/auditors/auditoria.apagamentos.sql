drop view if exists carteiro_auditoria.apagamentos;
create view carteiro_auditoria.apagamentos as
select position as posicao, id, court_order as ordem_judicial, masked(actor) as autor, masked(reason) as motivo, events as eventos,
       pages as paginas, ordered_at as pedido_em, epoch as epoca, tx as transacao
from erasure_orders;
