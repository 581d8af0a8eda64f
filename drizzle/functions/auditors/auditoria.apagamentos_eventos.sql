drop view if exists carteiro_auditoria.apagamentos_eventos;
create view carteiro_auditoria.apagamentos_eventos as
select page.order_id as apagamento_id, page.number as pagina, listed.event_id as evento_id, listed.remains as restante_sha256,
       page.epoch as epoca, page.tx as transacao
from erasure_pages page
cross join lateral unnest(page.event_ids, page.remains) as listed (event_id, remains);
