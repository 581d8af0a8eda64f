-- Removes events of loans that are leaving (mark_leaving) and of the month `p_month`, whose file has them as `p_events`: those alone of
-- which the file gives every column of the row. What `worker_events` has of the loan's worker goes into the loan's row. Waits, in the
-- order of loans, for whoever brings one of them back.
create or replace function leave_archived(p_month text, p_events json) returns bigint
  language plpgsql security definer set search_path from current
as $$
declare
  act archive_acts := (select a from archive_acts a where month = p_month order by position desc limit 1);
  low seals := (select s from seals s where number = act.first_seal);
  high seals := (select s from seals s where number = act.last_seal);
  removed bigint;
begin
  if act.act is distinct from 'remocao_concluida' then
    raise exception 'the month % was not removed', p_month using errcode = 'CT409';
  end if;
  perform from loans l
  where l.is_leaving and l.id = any (array(select (e ->> 'stream')::uuid from json_array_elements(p_events) e))
  order by l.id for no key update;
  with gone as (
    delete from events e
    using archived_events(p_events) a join loans l on l.id = a.stream
    where l.is_leaving and e.stream = a.stream and e.version = a.version and e.version <= l.version
      and (e.epoch, xid8send(e.tx)::bigint) >= (low.first_epoch, low.first_tx)
      and (e.epoch, xid8send(e.tx)::bigint) < (high.end_epoch, high.end_tx)
      and (e.position, e.tx, e.occurred_at, e.fan_out, e.catalog_version, e.epoch, e.imported, e.is_of_loan, e.id, e.partner_id, e.type,
           e.other_family, e.data::text, e.actor, e.request_id, e.seen::text, e.traceparent, e.salt, e.commitment)
        is not distinct from
          (a.position, a.tx, a.occurred_at, a.fan_out, a.catalog_version, a.epoch, a.imported, a.is_of_loan, a.id, a.partner_id, a.type,
           a.other_family, a.data::text, a.actor, a.request_id, a.seen::text, a.traceparent, a.salt, null::bytea)
    returning e.id, e.stream
  ),
  indexed as (
    delete from worker_events w using gone g join loans l on l.id = g.stream
    where w.event_id = g.id and w.digest = l.away_worker and w.is_own
    returning w.event_id, w.stream
  ),
  kept as (
    update loans l set away_own = away_own || own.ids
    from (select stream, array_agg(event_id order by event_id) as ids from indexed group by stream) own
    where l.id = own.stream
  )
  select count(*) into removed from gone;
  return removed;
end
$$;
