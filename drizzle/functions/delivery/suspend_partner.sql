-- Deactivating a partner, by any statement, suspends up to 10,000 of its pending deliveries in the same transaction, the others in batches
-- afterwards. Measured alternative: all 300,000 at once took 6.7 to 10.6 s, close to an API call's deadline.
-- Invariant: after the commit no claim on the partner's webhooks commits. The deactivation waits for claims that hold the partner's lanes,
-- and a claim reads whether the partner is active only after it has locked a lane.
-- Each lane is changed, so its keeper reads it and has the rest suspended (src/delivery/queue/orders/suspend.ts): what exceeds the 10,000,
-- failed flights, deliveries of an append open meanwhile, and lost claims. A resumption under way ends, and what it leaves suspended holds
-- back no loan (first_ahead.sql). A re-activation sends only new events (src/admin/off-boarding.ts); the partner resumes the suspended
-- ones.
create or replace function suspend_partner() returns trigger
  language plpgsql security definer set search_path from current
as $$
declare
  at_once constant int := 10000;
  hooks constant uuid[] := array(select id from webhooks where partner_id = new.id order by id);
  flying uuid[];
begin
  perform from lanes where webhook_id = any (hooks) and partner_id = new.id order by webhook_id for update;
  update lanes set changed = keeper is not null, resumes_until = null
  where webhook_id = any (hooks) and partner_id = new.id and (keeper is not null or resumes_until is not null);
  if new.active then
    return null;
  end if;
  flying := array(select f.delivery_id from flights() f where f.partner_id = new.id);
  update deliveries
  set status = 'suspensa', next_attempt_at = null
  where partner_id = new.id and id = any (array(
    select unclaimed.id
    from unnest(hooks) as hook (id)
    cross join lateral (
      select d.id
      from (select p.delivery_id from pending p where p.webhook_id = hook.id order by p.due_at, p.delivery_id limit at_once) p
      cross join lateral (
        select d.id from deliveries d
        where d.id = p.delivery_id and d.partner_id = new.id and d.status = 'pendente' and d.id <> all (flying)
        limit 1 for update skip locked
      ) d
    ) unclaimed
    limit at_once
  ));
  return null;
end
$$;

create or replace trigger partners_suspend_deliveries
  after update of active on partners for each row
  when (old.active <> new.active)
  execute function suspend_partner();
