drop view if exists carteiro_auditoria.arquivos;
create view carteiro_auditoria.arquivos as
select position as posicao, act as ato, month as mes, first_seal as primeiro_selo, last_seal as ultimo_selo, place as onde,
       encode(manifest, 'hex') as manifesto, encode(deliveries, 'hex') as entregas, rows as linhas, masked(actor) as autor, masked(reason) as motivo, done_at as feito_em,
       epoch as epoca, tx as transacao
from archive_acts;
