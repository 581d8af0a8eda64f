-- Deactivating a partner, by whatever statement, suspends its pending deliveries in the same transaction.
--
-- Invariant: after the commit of a deactivation, no claim on the partner's webhooks commits. The deactivation waits for
-- claims that hold the partner's lanes, and a claim reads whether the partner is active only after it has locked a lane.
-- Deliveries in flight end by themselves; a failure makes them pending again. Those, deliveries of an append that was
-- open meanwhile, and lost claims are suspended by the next claim that finds them (src/delivery/queue/orders/suspend.ts);
-- for that each webhook gets an arrival.
-- Re-activation sends only new events. The partner resumes the suspended deliveries, as after a webhook's own
-- deactivation.
create or replace function suspend_partner() returns trigger
  language plpgsql security definer set search_path from current
as $$
declare
  hooks constant uuid[] := array(select id from webhooks where partner_id = new.id order by id);
begin
  perform from lanes where webhook_id = any (hooks) and partner_id = new.id order by webhook_id for update;
  update deliveries
  set status = 'suspensa', next_attempt_at = null
  where partner_id = new.id and id = any (array(
    select id from deliveries
    where webhook_id = any (hooks) and partner_id = new.id and status = 'pendente' and claimed_at is null
    for update skip locked
  ));
  insert into arrivals (webhook_id, partner_id, kind) select unnest(hooks), new.id, 'look';
  return null;
end
$$;

create or replace trigger partners_suspend_deliveries
  after update of active on partners for each row
  when (old.active and not new.active)
  execute function suspend_partner();
