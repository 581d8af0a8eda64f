drop view if exists carteiro_auditoria.historico_sistema;
create view carteiro_auditoria.historico_sistema as
select position as posicao, about as sobre, name as nome, value as valor, actor as autor, changed_at as mudado_em, epoch as epoca,
       tx as transacao
from system_history;
