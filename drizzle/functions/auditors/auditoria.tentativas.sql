drop view if exists carteiro_auditoria.tentativas;
create view carteiro_auditoria.tentativas as
select delivery_id as entrega_id, number as numero, late as atrasada, webhook_id, partner_id as parceiro_id,
       event_id as evento_id,
       (select coalesce(case when e.type = 'webhook.teste' then nullif(field_of(e.data, 'exemplo_de'), '') end, e.type)
        from events e where e.id = event_id and e.fan_out is not null) as evento,
       (select e.stream from events e where e.id = event_id and e.loan_version is not null) as emprestimo_id,
       outcome as resultado, status_code as status_http, started_at as inicio, duration_ms as duracao_ms,
       masked(coalesce(url, (select t.url from targets t where t.id = target))) as url,
       coalesce(address, (select t.address from targets t where t.id = target)) as endereco,
       coalesce(key_id, (select t.key_id from targets t where t.id = target)) as chave_id,
       poller, claim as reivindicacao, masked(error) as erro,
       masked(answer_head(answer)) as resposta_cabecalhos,
       case when answer is null and commitment is not null then 'apagado' else masked(answer_body(answer)) end as resposta,
       recorded_at as registrada_em, epoch as epoca, tx as transacao
from attempts;
