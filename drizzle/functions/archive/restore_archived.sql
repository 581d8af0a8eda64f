-- Restores rows that `remove_archived` took, with their place in the log. Existing rows stay. An answer whose event was erased since stays
-- away. Rows outside the month's seals are refused; `audit verify` reports one that was never sealed.
create or replace function restore_archived(p_month text, p_deliveries json, p_attempts json) returns bigint
  language plpgsql security definer set search_path from current
as $$
declare
  act archive_acts := (select a from archive_acts a where month = p_month order by position desc limit 1);
  low seals := (select s from seals s where number = act.first_seal);
  high seals := (select s from seals s where number = act.last_seal);
  deliveries_added bigint;
  attempts_added bigint;
begin
  if coalesce(act.act, '') not in ('remocao', 'remocao_concluida') then
    raise exception 'the month % was not removed', p_month using errcode = 'CT409';
  end if;
  insert into deliveries (id, event_id, webhook_id, partner_id, status, attempts, failures, lost_in_row, finished_at, is_test)
  select id, event_id, webhook_id, partner_id, status, attempts, failures, lost_in_row, finished_at, is_test
  from json_populate_recordset(null::deliveries, p_deliveries)
  on conflict do nothing;
  get diagnostics deliveries_added = row_count;
  insert into attempts (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, target, url,
    address, key_id, claim, error, answer, body_digest, salt, commitment, recorded_at, epoch, tx)
  select r.delivery_id, r.number, r.late, r.event_id, r.webhook_id, r.partner_id, r.outcome, r.status_code, r.started_at, r.duration_ms,
    target.id, case when target.id is null then r.url end, case when target.id is null then r.address end,
    case when target.id is null then r.key_id end, r.claim, r.error, case when not is_erased then r.answer end, r.body_digest,
    case when not is_erased then r.salt end,
    case when is_erased then coalesce(r.commitment, sha256(r.salt || convert_to(r.answer, 'UTF8'))) else r.commitment end, r.recorded_at, r.epoch, r.tx
  from json_populate_recordset(null::attempts, p_attempts) r
  cross join lateral (select exists (select from events e where e.id = r.event_id and e.salt is null) as is_erased) event
  left join lateral (
    select t.id from targets t where t.url = r.url and t.address = r.address and t.key_id = r.key_id limit 1
  ) target on true
  where (r.epoch, xid8send(r.tx)::bigint) >= (low.first_epoch, low.first_tx)
    and (r.epoch, xid8send(r.tx)::bigint) < (high.end_epoch, high.end_tx)
  on conflict do nothing;
  get diagnostics attempts_added = row_count;
  return deliveries_added + attempts_added;
end
$$;
