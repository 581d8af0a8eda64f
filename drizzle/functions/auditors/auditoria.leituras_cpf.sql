drop view if exists carteiro_auditoria.leituras_cpf;
create view carteiro_auditoria.leituras_cpf as
select position as posicao, masked(actor) as autor, operation as operacao, asked as pedido, request_id as requisicao_id,
       events as eventos, read_at as lida_em, epoch as epoca, tx as transacao
from cpf_reads;
