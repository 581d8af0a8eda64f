-- Refuses another closing of a partner's month, with CT409: of one that `settlements` has, or an event that the projector has not
-- passed yet. Called after the insert, so that under read committed it sees what was committed meanwhile: closings queue on the
-- partner's row (src/core/settlement/settlement.ts). The row is written, unchanged, and not only locked: under repeatable read a
-- closing that began before another one committed sees nothing of it, and so is 40001.
create or replace function refuse_second_closing(p_partner_id uuid, p_data json) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  closed record;
begin
  update partners set name = name where id = p_partner_id;
  select * into closed
  from (
    select id, closed_at from settlements where partner_id = p_partner_id and month = p_data ->> 'competencia'
    union all
    select (e.data ->> 'repasse_id')::uuid, (e.data ->> 'fechado_em')::timestamptz
    from projections p join events e on (e.epoch, e.tx, e.position) > (p.epoch, p.tx, p.position)
    where p.name = 'loans' and e.partner_id = p_partner_id and e.type = 'repasse.processado'
      and e.data ->> 'competencia' = p_data ->> 'competencia'
  ) closings
  where id <> (p_data ->> 'repasse_id')::uuid
  limit 1;
  if found then
    raise exception 'the month % is closed since %, by the settlement %', p_data ->> 'competencia', closed.closed_at, closed.id
      using errcode = 'CT409', hint = 'it stands: read the log, and do not append this event again';
  end if;
end
$$;
