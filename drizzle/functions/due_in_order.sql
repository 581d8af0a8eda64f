-- Locks the first `at_most` due deliveries of each of these locked lanes that keep the order of loans, and returns them with
-- their place in their loan, for hold_back. Deliveries that another session holds are passed over.
create or replace function due_in_order(locked tid[], moment timestamptz, at_most bigint)
  returns table (
    id uuid, webhook_id uuid, partner_id uuid, stream uuid, version int, is_of_loan boolean, is_resuming boolean,
    resumes_until timestamptz
  )
  language sql volatile set search_path from current
as $$
  select d.id, d.webhook_id, d.partner_id, e.stream, e.version, e.is_of_loan,
         coalesce(l.resumes_until > moment, false) as is_resuming, l.resumes_until
  from lanes l
  cross join lateral (
    select d.id, d.event_id, d.webhook_id, d.partner_id
    from deliveries d
    where d.webhook_id = l.webhook_id and d.partner_id = l.partner_id and d.status = 'pendente'
      and d.claimed_at is null and d.next_attempt_at between l.scan_from and moment
    order by d.next_attempt_at
    limit at_most
    for update skip locked
  ) d
  cross join lateral (
    select e.stream, e.version, e.loan_version is not null as is_of_loan from events e where e.id = d.event_id limit 1
  ) e
  where l.ctid = any (locked) and l.in_order
$$;
