-- In which events a CPF stands, by its keyed digest. Whoever knows digests of CPFs could tell whose an event is, so only who may see
-- CPFs reads it.
drop view if exists carteiro_auditoria.trabalhadores;
create view carteiro_auditoria.trabalhadores as
select digest as resumo, event_id as evento_id, is_own as proprio from worker_events
union all
select away_worker, event, true from loans cross join unnest(away_own) event where away_worker is not null;
