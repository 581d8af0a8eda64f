-- Chooses, among the next `p_most` loans after `p_after`, those whose events may leave the log: the loan was over before `p_before` (first
-- day of a month; find-worker.ts, and one closed by an end of bond when nothing is outstanding), every event lies below the end
-- of seal `p_last_seal`, no delivery of them is left, none was erased, and no registration is open. Nothing is chosen during an erasure. The
-- index of workers lists all loans.
create or replace function mark_leaving(p_before date, p_last_seal bigint, p_after uuid, p_most integer, out last uuid, out marked integer)
  language plpgsql security definer set search_path from current
as $$
declare
  edge seals := (select s from seals s where number = p_last_seal);
  -- How far CPFs were looked for; null: nobody looks for them.
  looked_for projections := (
    select p from projections p where name like 'workers/%' order by p.epoch desc, p.tx desc, p.position desc limit 1);
begin
  perform pg_advisory_xact_lock(advisory_lock('ordering erasures'));
  if exists (select from erasures where done_at is null) then
    return;
  end if;
  with looked as materialized (
    select l.id, l.version, l.state, l.partner_id from loans l where l.id > p_after and l.away_digest is null order by l.id limit p_most
    for no key update
  ),
  settled as (
    select l.*, (state ->> 'installments')::int as installments, elsewhere
      + (select count(*) from settled_installments i
         where i.loan_id = l.id and i.partner_id = l.partner_id and i.number > elsewhere) as counted
    from looked l
    left join settled_elsewhere s on s.loan_id = l.id and s.partner_id = l.partner_id
    cross join lateral (select coalesce(least(greatest(
      (left(s.until, 4)::int - left(state ->> 'disbursedOn', 4)::int) * 12 + substr(s.until, 6, 2)::int
        - substr(state ->> 'disbursedOn', 6, 2)::int, 0), (state ->> 'installments')::int), 0) as elsewhere) before
  ),
  ended as (
    select * from settled
    where state ->> 'transferOpen' is distinct from 'true'
      and not exists (select from registrations r where r.loan_id = settled.id and r.status = 'processando')
      and (state ->> 'updatedAt')::timestamptz < p_before::timestamp at time zone 'America/Sao_Paulo'
      and case state ->> 'status'
        when 'cancelada' then true
        when 'encerrada_desligamento' then state ->> 'disbursedOn' is null or counted >= installments
        when 'desembolsada' then counted >= installments
          and date_trunc('month', (state ->> 'disbursedOn')::date) + make_interval(months => installments + 1) <= p_before
        else false end
  ),
  chosen as (
    update loans l
    set is_leaving = true, away_from = own.first_on, away_to = own.last_on, away_events = own.times, away_digest = stream_digest(l.id, l.version),
        away_worker = own.worker, away_own = case when own.worker is not null then '{}'::uuid[] end
    from ended
    cross join lateral (
      select string_agg(distinct substr(uuid_send(e.id), 1, 6), '') as times, max(e.version) as version,
             (select case when count(distinct w.digest) = 1 then min(w.digest) end from worker_events w
              where w.event_id = any (array_agg(e.id)) and w.is_own) as worker,
             min(e.occurred_at at time zone 'America/Sao_Paulo')::date as first_on,
             max(e.occurred_at at time zone 'America/Sao_Paulo')::date as last_on,
             bool_and(e.salt is not null and e.commitment is null
                      and (e.epoch, xid8send(e.tx)::bigint) < (edge.end_epoch, edge.end_tx)
                      and (looked_for is null or (e.epoch, e.tx, e.position) <= (looked_for.epoch, looked_for.tx, looked_for.position))
                      and not exists (select from webhooks w join deliveries d on d.webhook_id = w.id and d.event_id = e.id
                                      where w.partner_id = e.partner_id)) as may_go
      from events e where e.stream = ended.id
    ) own
    where l.id = ended.id and own.may_go and own.version = l.version
    returning 1
  )
  select (select id from looked order by id desc limit 1), (select count(*) from chosen) into last, marked;
end
$$;
