-- What a loan's delivery of version `behind` waits for on a webhook in order: the first earlier one that is pending or, during a
-- resumption, suspended. Without a search path, so that it is inlined. Each look-up is by key and limited.
create or replace function first_ahead(webhook uuid, loan uuid, behind int, is_resuming boolean)
  returns table (id uuid)
  language sql stable
begin atomic
  select o.id
  from events e
  cross join lateral (
    select d.id, d.status from deliveries d where d.webhook_id = webhook and d.event_id = e.id limit 1
  ) o
  where e.stream = loan and e.version < behind and (o.status = 'pendente' or is_resuming and o.status = 'suspensa')
  order by e.version
  limit 1;
end;
