-- Moves a webhook into or out of `falhando`, or suspends it, with its history by the author `servico` (src/delivery/queue/maintenance/failing.ts
-- decides). False when nothing was to do or written. Waits for a claim that holds the lane.
--   falhando      from `p_at` its lane has one delivery in flight
--   fim_da_falha  the lane has its window again, and is read at once
--   suspensao     the same, and the webhook is inactive: its pending deliveries become `suspensa`; a resumption under way ends
create or replace function change_failing(p_webhook_id uuid, p_change text, p_at timestamptz, p_reason text) returns boolean
  language plpgsql security definer set search_path from current
as $$
declare
  begins constant boolean := p_change = 'falhando';
begin
  if p_change not in ('falhando', 'fim_da_falha', 'suspensao') then
    raise exception 'the policy for failing endpoints makes no change "%"', p_change;
  end if;
  perform from webhooks where id = p_webhook_id for no key update;
  -- Since it was judged a success may have ended its run, its partner may have deactivated it, or an operator muted it.
  if p_change <> 'fim_da_falha' and not exists (
    select from webhooks w join partners p on p.id = w.partner_id join failing_runs r on r.webhook_id = w.id
    where w.id = p_webhook_id and w.active and p.active
      and not exists (select from lanes l where l.webhook_id = w.id and l.muted_at is not null)
  ) then
    return false;
  end if;
  update lanes
  set changed = keeper is not null,
      failing_since = case when begins then p_at end,
      resumes_until = case when p_change <> 'suspensao' then resumes_until end
  where webhook_id = p_webhook_id and (failing_since is null) = begins;
  if not found then
    return false;
  end if;
  if p_change = 'suspensao' then
    update webhooks set active = false where id = p_webhook_id;
  end if;
  insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, reason, changed_at)
  select id, partner_id, url, events, active, p_change, 'servico', p_reason, clock_timestamp()
  from webhooks where id = p_webhook_id;
  return true;
end
$$;
