-- What of a webhook is due by `due_before`, is not in flight and waits for no other of its loan, the first `at_most` of it. Of a lane that gets
-- each loan in order it looks at 64 or more.
-- Without a search path of its own, so that it becomes part of the statement that asks.
create or replace function waiting_of(lane lanes, due_before timestamptz, flying uuid[], at_most int)
  returns table (delivery_id uuid, next_attempt_at timestamptz)
  language sql stable
begin atomic
  select d.id, d.next_attempt_at
  from (
    select p.delivery_id, p.event_id from pending p
    where p.webhook_id = (lane).webhook_id and p.due_at <= due_before and p.delivery_id <> all (flying)
    order by p.due_at, p.delivery_id
    limit case when (lane).in_order then greatest(at_most, 64) else at_most end
  ) p
  cross join lateral (select d.id, d.next_attempt_at from deliveries d where d.id = p.delivery_id limit 1) d
  where not (lane).in_order or not exists (
    select from events e cross join lateral first_ahead((lane).webhook_id, e.stream, e.version, coalesce((lane).resumes_until > now(), false))
    where e.id = p.event_id and e.is_of_loan
  )
  limit at_most;
end;
