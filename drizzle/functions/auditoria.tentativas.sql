drop view if exists carteiro_auditoria.tentativas;
create view carteiro_auditoria.tentativas as
select delivery_id as entrega_id, number as numero, late as atrasada, webhook_id, partner_id as parceiro_id,
       outcome as resultado, status_code as status_http, started_at as inicio, duration_ms as duracao_ms,
       masked(url) as url, address as endereco, key_id as chave_id, poller, masked(error) as erro,
       masked(encode(answer, 'escape')) as resposta, recorded_at as registrada_em, tx as transacao
from attempts;
