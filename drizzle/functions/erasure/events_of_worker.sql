-- The events in which a CPF stands, by its digest: those in the log, and those of loans that are away.
create or replace function events_of_worker(p_digest bytea) returns table (event_id uuid, stream uuid, is_own boolean)
  language sql stable set search_path from current
begin atomic
  select w.event_id, w.stream, w.is_own from worker_events w where w.digest = p_digest
  union all
  select event, l.id, true from loans l cross join unnest(l.away_own) event where l.away_worker = p_digest;
end;
