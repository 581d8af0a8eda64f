drop view if exists carteiro_auditoria.selos;
create view carteiro_auditoria.selos as
select number as numero, first_epoch as primeira_epoca, first_tx as primeira_transacao,
       end_epoch as epoca_final, end_tx as transacao_final, rows as linhas, root as raiz, remains as restante,
       leaf as folha, sealed_at as selado_em
from seals;
