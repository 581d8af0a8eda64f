drop view if exists carteiro_auditoria.eventos;
create view carteiro_auditoria.eventos as
select position as posicao, id, stream as fluxo, version as versao, type as evento, family as familia,
       partner_id as parceiro_id, masked(data::text) as dados, occurred_at as ocorrido_em, masked(actor) as autor,
       request_id as requisicao_id, epoch as epoca, tx as transacao, imported as importado
from events;
