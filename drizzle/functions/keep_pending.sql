-- Keeps `pending` in step with `deliveries` where a statement makes a delivery due, or pending no more, without ending an attempt of it:
-- a resend, a resumption, a suspension, a cancellation, the end of a lost attempt. The record, which ends attempts, writes both itself;
-- so does the append. What becomes due again is a new row, which its lane's keeper sees by its transaction. What is over in a lane that gets
-- each loan in order has the lane read again.
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
