-- The delivery for which the loan's delivery of version `behind` must wait (hold_back.sql), of the same webhook: a pending one
-- of an earlier version, or a claimed one; during a resumption also a suspended one. Of several it is the first that does not
-- wait itself, then one that waits; a suspended one comes last, because nobody knows when it ends.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function first_ahead(webhook uuid, partner uuid, loan uuid, behind int, is_resuming boolean)
  returns table (id uuid, is_earlier boolean, is_suspended boolean)
  language sql stable
begin atomic
  select o.id, e.version < behind, o.status = 'suspensa'
  from events e
  cross join lateral (
    select d.id, d.status, d.claimed_at, d.next_attempt_at
    from deliveries d
    where d.webhook_id = webhook and d.event_id = e.id and d.partner_id = partner
    limit 1
  ) o
  where e.stream = loan and e.version <> behind
    and (o.status = 'pendente' or is_resuming and o.status = 'suspensa')
    and (e.version < behind or o.claimed_at is not null)
  order by o.status = 'suspensa', o.next_attempt_at = 'infinity', e.version
  limit 1;
end;
