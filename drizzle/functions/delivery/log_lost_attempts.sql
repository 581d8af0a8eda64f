-- Ends the flights of these locked deliveries that have one: each gets its row `desconhecido`, and its number rises, so whoever sent it
-- reports late. Returns them. The URL is the one that its claim read, which the webhook may have changed since.
create or replace function log_lost_attempts(ids uuid[]) returns setof uuid
  language plpgsql volatile set search_path from current
as $$
begin
  perform hold_pending(ids);
  return query
  with flying as materialized (select * from flights() f where f.delivery_id = any (ids)),
  logged as (
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, started_at, url, claim)
    select d.id, f.number, d.event_id, d.webhook_id, d.partner_id, 'desconhecido', f.claimed_at,
           coalesce(
             (select h.url from webhook_history h
              where h.webhook_id = d.webhook_id and h.partner_id = d.partner_id and h.changed_at <= f.claimed_at
              order by h.position desc limit 1),
             (select w.url from webhooks w where w.id = d.webhook_id and w.partner_id = d.partner_id)),
           f.poller || '/' || f.claim
    from flying f join deliveries d on d.id = f.delivery_id
    on conflict do nothing
  ),
  numbered as (
    update pending p set number = f.number
    from flying f join deliveries d on d.id = f.delivery_id
    where p.webhook_id = d.webhook_id and p.delivery_id = d.id and p.due_at in ('-infinity', d.next_attempt_at)
  )
  update deliveries d set attempts = f.number from flying f where d.id = f.delivery_id
  returning d.id;
end
$$;
