drop view if exists carteiro_auditoria.entregas;
create view carteiro_auditoria.entregas as
select id, event_id as evento_id, webhook_id, partner_id as parceiro_id, status, attempts as total_tentativas,
       next_attempt_at as proxima_tentativa_em, created_at as criada_em, finished_at as concluida_em
from deliveries;
