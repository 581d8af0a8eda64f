-- The deliveries in flight: what open claims name, and no attempt has ended of. Every claim of a poller below its newest `done_below` is
-- recorded, so each poller's are read from its newest backwards, and never the dead ones. A poller with claims has its row in `keepers`.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function flights()
  returns table (poller text, claim bigint, claimed_at timestamptz, webhook_id uuid, partner_id uuid, delivery_id uuid, number int)
  language sql stable
begin atomic
  select distinct on (each.id) c.poller, c.number, c.at, d.webhook_id, d.partner_id, d.id, each.number
  from keepers k
  cross join lateral (select n.done_below from claims n where n.poller = k.name order by n.number desc limit 1) newest
  cross join lateral (
    select open.* from claims open where open.poller = k.name and open.number >= newest.done_below order by open.number desc
  ) c
  cross join lateral unnest(c.ids, c.numbers) as each (id, number)
  cross join lateral (
    select d.id, d.webhook_id, d.partner_id from deliveries d
    where d.id = each.id and d.attempts = each.number - 1 and d.status = 'pendente' limit 1
  ) d
  order by each.id, c.at desc;
end;
