-- Removes idempotency keys of what partners did to webhooks, at most p_limit of them. Those of loans never expire.
create or replace function remove_old_keys(p_before timestamptz, p_limit bigint) returns bigint
  language plpgsql security definer set search_path from current
as $$
declare
  removed bigint;
begin
  delete from idempotency_keys
  where ctid = any (array(
    select k.ctid
    from (
      select id, 'POST /v1/webhooks' from partners
      union all
      select partner_id, 'POST /v1/webhooks/' || id || '/segredo' from webhooks
    ) done (partner_id, operation)
    join idempotency_keys k using (partner_id, operation)
    where k.created_at < p_before
    limit p_limit));
  get diagnostics removed = row_count;
  return removed;
end
$$;
