-- Locks the rows of `pending` of these locked deliveries: no claim takes them until the transaction ends, and those that were under way are over,
-- so `flights` tells the next statement of them.
create or replace function hold_pending(ids uuid[]) returns void
  language plpgsql volatile set search_path from current
as $$
begin
  perform from deliveries d cross join lateral (
    select from pending p
    where p.webhook_id = d.webhook_id and p.due_at in ('-infinity', d.next_attempt_at) and p.delivery_id = d.id
    limit 1 for update
  ) held where d.id = any (ids);
end
$$;
