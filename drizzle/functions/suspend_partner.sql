-- Deactivating a partner, by whatever statement, suspends its pending deliveries in the same transaction.
--
-- Invariant: once the deactivation has committed, no claim on the partner's webhooks commits. It waits for the claims that
-- hold their lanes, and a claim reads whether the partner is active only after it has locked a lane.
-- What a claim has taken before that is in flight and ends by itself: its POST may still be under way, and a failure of it
-- becomes pending again. That, what an append adds that was open meanwhile, and lost claims are suspended by the next claim
-- that finds them (src/delivery/suspend.ts), so each webhook gets a wake row.
-- Re-activation sends only what is new; the partner resumes what was suspended, as after a webhook's own deactivation.
create or replace function suspend_partner() returns trigger
  language plpgsql security definer set search_path from current
as $$
declare
  hooks constant uuid[] := array(select id from webhooks where partner_id = new.id order by id);
begin
  perform from lanes where webhook_id = any (hooks) order by webhook_id for update;
  update deliveries
  set status = 'suspensa', next_attempt_at = null
  where id = any (array(
    select id from deliveries
    where webhook_id = any (hooks) and status = 'pendente' and claimed_at is null
    for update skip locked
  ));
  insert into arrivals (webhook_id, due_at) select unnest(hooks), '-infinity';
  return null;
end
$$;

create or replace trigger partners_suspend_deliveries
  after update of active on partners for each row
  when (old.active and not new.active)
  execute function suspend_partner();
