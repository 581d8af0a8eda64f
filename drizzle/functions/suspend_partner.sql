-- Deactivating a partner, by whatever statement, suspends its pending deliveries: up to 10,000 in the same transaction, the
-- others in batches afterwards.
--
-- Invariant: after the commit of a deactivation, no claim on the partner's webhooks commits, however much is still pending. The
-- deactivation waits for claims that hold the partner's lanes, and a claim reads whether the partner is active only after
-- it has locked a lane.
-- Each lane is changed. The keeper that reads it and finds it inactive has the rest suspended, batch by batch
-- (src/delivery/queue/orders/suspend.ts): those beyond the 10,000, deliveries that were in flight and failed, deliveries of an
-- append that was open meanwhile, and lost claims. Until then they are `pendente`, and nobody may claim them.
-- A resumption under way ends with the deactivation: what it leaves suspended holds no loan back (first_ahead.sql).
-- Re-activation sends only new events (src/steering/off-boarding.ts). The partner resumes the suspended deliveries, as after
-- a webhook's own deactivation.
-- All 300,000 at once took 6.7 to 10.6 s, close to the deadline of an API call.
create or replace function suspend_partner() returns trigger
  language plpgsql security definer set search_path from current
as $$
declare
  at_once constant int := 10000;
  hooks constant uuid[] := array(select id from webhooks where partner_id = new.id order by id);
  flying uuid[];
begin
  perform from lanes where webhook_id = any (hooks) and partner_id = new.id order by webhook_id for update;
  flying := array(select f.delivery_id from flights() f where f.partner_id = new.id);
  update lanes set changed = keeper is not null, resumes_until = null
  where webhook_id = any (hooks) and partner_id = new.id and (keeper is not null or resumes_until is not null);
  update deliveries
  set status = 'suspensa', next_attempt_at = null
  where partner_id = new.id and id = any (array(
    select unclaimed.id
    from unnest(hooks) as hook (id)
    cross join lateral (
      select d.id
      from (select p.delivery_id from pending p where p.webhook_id = hook.id order by p.due_at, p.delivery_id limit at_once) p
      join deliveries d on d.id = p.delivery_id
      where d.partner_id = new.id and d.status = 'pendente' and d.id <> all (flying)
      for update of d skip locked
    ) unclaimed
    limit at_once
  ));
  return null;
end
$$;

create or replace trigger partners_suspend_deliveries
  after update of active on partners for each row
  when (old.active and not new.active)
  execute function suspend_partner();
