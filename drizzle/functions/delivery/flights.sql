-- The deliveries in flight: what open claims name, and no attempt has ended of. Every claim of a poller below its newest `done_below` is
-- recorded. Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function flights()
  returns table (poller text, claim bigint, claimed_at timestamptz, webhook_id uuid, partner_id uuid, delivery_id uuid, number int)
  language sql stable
begin atomic
  select distinct on (each.id) c.poller, c.number, c.at, d.webhook_id, d.partner_id, d.id, each.number
  from (select open.*, max(open.done_below) over (partition by open.poller) as done from claims open) c
  cross join lateral unnest(c.ids, c.numbers) as each (id, number)
  cross join lateral (
    select d.id, d.webhook_id, d.partner_id from deliveries d
    where d.id = each.id and d.attempts = each.number - 1 and d.status = 'pendente' limit 1
  ) d
  where c.number >= c.done
  order by each.id, c.at desc;
end;
