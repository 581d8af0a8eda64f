-- Stores that a partner's month is closed, and refuses another closing with CT409, whichever core closed it, under its own id too: partners
-- are told once. Concurrent closings meet at the key of `closed_months`: the later waits for the other's commit. With an older snapshot
-- (repeatable read, serializable) it gets 40001, and CT409 when repeated.
create or replace function refuse_second_closing(p_partner_id uuid, p_data json, p_version bigint default 0) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  closed closed_months;
begin
  insert into closed_months (partner_id, month, settlement_id, closed_at)
  values (p_partner_id, p_data ->> 'competencia', (p_data ->> 'repasse_id')::uuid, (p_data ->> 'fechado_em')::timestamptz)
  on conflict do nothing;
  if not found then
    select * into closed from closed_months where partner_id = p_partner_id and month = p_data ->> 'competencia';
    raise exception 'the month % is closed since %, by the settlement %', closed.month, closed.closed_at, closed.settlement_id
      using errcode = 'CT409', detail = format('{"version":%s}', p_version),
            hint = 'it stands: read the log, and do not append this event again';
  end if;
end
$$;
