-- Webhooks that have something pending, at most so many: those of the oldest transactions that made something due, and those first by
-- id. It steps from one webhook to the next in the key of `pending`, so it costs by webhooks and not by deliveries.
create or replace function waiting_lanes(at_most int) returns table (webhook_id uuid)
  language sql stable set search_path from current
as $$
  with recursive first as (
    (select p.webhook_id, 1 as n from pending p order by p.webhook_id limit 1)
    union all
    select next.webhook_id, first.n + 1
    from first
    cross join lateral (
      select p.webhook_id from pending p where p.webhook_id > first.webhook_id order by p.webhook_id limit 1
    ) next
    where first.n < at_most
  )
  select webhook_id from first
$$;
