-- Removes an archived month's rows: deliveries still as the archive has them, then their attempts that the month's seals cover. An attempt
-- stays while its delivery does. Nothing goes before a seal covers the act of removal, so the manifest's digest is in the log first.
create or replace function remove_archived(p_month text, p_ids uuid[], p_attempts integer[], p_finished timestamptz[], p_attempted uuid[])
  returns bigint
  language plpgsql security definer set search_path from current
as $$
declare
  act archive_acts;
  low seals;
  high seals;
  deliveries_removed bigint;
  attempts_removed bigint;
begin
  -- Another act waits for this (src/archive/acts.ts): behind a restoration nothing goes.
  perform pg_advisory_xact_lock_shared(advisory_lock('archiving'));
  act := (select a from archive_acts a where month = p_month order by position desc limit 1);
  low := (select s from seals s where number = act.first_seal);
  high := (select s from seals s where number = act.last_seal);
  if act.act is distinct from 'remocao' then
    raise exception 'the month % is not being removed', p_month using errcode = 'CT409';
  end if;
  if not exists (select from seals where (end_epoch, end_tx) > (act.epoch, xid8send(act.tx)::bigint)) then
    raise exception 'the removal of % is not sealed yet', p_month using errcode = 'CT409';
  end if;
  delete from deliveries d
  using unnest(p_ids, p_attempts, p_finished) as kept (id, attempts, finished_at)
  where d.id = kept.id and d.attempts = kept.attempts and d.finished_at = kept.finished_at and d.status in ('entregue', 'erro');
  get diagnostics deliveries_removed = row_count;
  delete from attempts a
  where a.delivery_id = any (p_attempted)
    and (a.epoch, xid8send(a.tx)::bigint) >= (low.first_epoch, low.first_tx)
    and (a.epoch, xid8send(a.tx)::bigint) < (high.end_epoch, high.end_tx)
    and not exists (select from deliveries d where d.id = a.delivery_id);
  get diagnostics attempts_removed = row_count;
  return deliveries_removed + attempts_removed;
end
$$;
