-- Brings rows of a month back that `remove_archived` took: as they were, with their place in the log. What is there already stays as
-- it is. A row that the month's seals do not cover is refused; one that was never sealed is told by `audit verify`.
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
  insert into deliveries (id, event_id, webhook_id, partner_id, status, attempts, failures, lost_in_row, created_at, finished_at, is_test)
  select id, event_id, webhook_id, partner_id, status, attempts, failures, lost_in_row, created_at, finished_at, is_test
  from json_populate_recordset(null::deliveries, p_deliveries)
  on conflict do nothing;
  get diagnostics deliveries_added = row_count;
  insert into attempts (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
    address, key_id, claim, error, answer, body_digest, salt, commitment, recorded_at, epoch, tx)
  select delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
    address, key_id, claim, error, answer, body_digest, salt, commitment, recorded_at, epoch, tx
  from json_populate_recordset(null::attempts, p_attempts) r
  where (r.epoch, xid8send(r.tx)::bigint) >= (low.first_epoch, low.first_tx)
    and (r.epoch, xid8send(r.tx)::bigint) < (high.end_epoch, high.end_tx)
  on conflict do nothing;
  get diagnostics attempts_added = row_count;
  return deliveries_added + attempts_added;
end
$$;
