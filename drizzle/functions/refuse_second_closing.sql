-- Refuses another closing of a partner's month that our own core has closed, with CT409. Called after the insert, so that under
-- read committed it sees what was committed meanwhile: closings queue on the partner's row (src/core/settlement/settlement.ts).
create or replace function refuse_second_closing(p_partner_id uuid, p_data json) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  closed settlements;
begin
  perform from partners where id = p_partner_id for no key update;
  select * into closed from settlements
  where partner_id = p_partner_id and month = p_data ->> 'competencia' and id <> (p_data ->> 'repasse_id')::uuid;
  if found then
    raise exception 'the month % is closed since %, by the settlement %', closed.month, closed.closed_at, closed.id
      using errcode = 'CT409', hint = 'it stands: read the log, and do not append this event again';
  end if;
end
$$;
