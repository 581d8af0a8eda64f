-- The saturated lanes that have an arrival of a transaction since `after`, or of one of `running`.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function saturated_lanes_told_of(after xid8, running xid8[]) returns table (webhook_id uuid)
  language sql stable
begin atomic
  select told.webhook_id
  from (
    select a.webhook_id, a.partner_id from arrivals a where a.tx >= after
    union
    select a.webhook_id, a.partner_id from arrivals a where a.tx = any (running)
  ) told
  cross join lateral (
    select l.saturated from lanes l
    where l.webhook_id = told.webhook_id and l.partner_id = told.partner_id
    order by l.version desc limit 1
  ) lane
  where lane.saturated;
end;
