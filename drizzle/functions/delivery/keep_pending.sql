-- Keeps `pending` in step with `deliveries` where a statement makes a delivery due, or no longer pending, without ending an attempt:
-- resend, resumption, suspension, cancellation, a lost attempt. Record and append write both themselves. A delivery due again is a new row,
-- which its keeper sees by its transaction. When one ends in a lane in order, the lane is read again.
create or replace function keep_pending() returns trigger
  language plpgsql set search_path from current
as $$
begin
  if old.status = 'pendente' then
    delete from pending
    where webhook_id = old.webhook_id and delivery_id = old.id and due_at in ('-infinity', old.next_attempt_at);
  end if;
  if new.status = 'pendente' then
    insert into pending (webhook_id, delivery_id, event_id, partner_id, number, is_test, due_at)
    values (new.webhook_id, new.id, new.event_id, new.partner_id, new.attempts, new.is_test,
            case when new.next_attempt_at <= now() then '-infinity' else new.next_attempt_at end);
  else
    -- Others of its loan may have waited for it.
    update lanes set changed = true where webhook_id = new.webhook_id and in_order and keeper is not null and not changed;
  end if;
  return null;
end
$$;
create or replace trigger deliveries_keep_pending after update on deliveries for each row
  when (new.attempts = old.attempts and (old.status = 'pendente' or new.status = 'pendente'))
  execute function keep_pending();
