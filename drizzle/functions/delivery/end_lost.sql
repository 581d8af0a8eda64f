-- Ends the flights of these deliveries, whose poller will not report: due at once, no slot spent. The fifth loss in a row, or a test's
-- first, books a failure instead, so that a receiver that kills pollers is not tried for ever. Returns the number; deliveries locked
-- elsewhere are skipped.
create or replace function end_lost(ids uuid[], at timestamptz default null) returns int
  language plpgsql volatile set search_path from current
as $$
declare
  moment constant timestamptz := coalesce(at, now());
  lost uuid[] := array(
    select id from deliveries where id = any (ids) and status = 'pendente' order by id for update skip locked);
  ended int;
begin
  if lost = '{}' then
    return 0;
  end if;
  lost := array(select l from log_lost_attempts(lost) l);
  update deliveries d
  set lost_in_row = case when o.is_spent then null else coalesce(d.lost_in_row, 0) + 1 end,
      failures = d.failures + o.is_spent::int,
      status = case when o.is_spent and o.next_slot is null then 'erro' else 'pendente' end,
      next_attempt_at = case when o.is_spent then o.next_slot else least(d.next_attempt_at, moment) end,
      finished_at = case when o.is_spent and o.next_slot is null then moment end
  from (
    select b.id, b.is_test is true or coalesce(b.lost_in_row, 0) + 1 >= 5 as is_spent, next_slot(b, moment) as next_slot
    from deliveries b where b.id = any (lost)
  ) o
  where d.id = o.id;
  get diagnostics ended = row_count;
  return ended;
end
$$;
