-- The schedule: when a delivery is tried again after one more failure, which ended at `ended_at`. Null after the sixth, and
-- for a test after the first: it ends in `erro`. It takes the delivery, so that only this function knows which schedule a delivery has. The contract's delays
-- are here and in src/contract/schedule.ts; a test compares them.
create or replace function next_slot(delivery deliveries, ended_at timestamptz) returns timestamptz
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return case when delivery.is_test is not true then ended_at + (array[60, 300, 900, 3600, 21600])[delivery.failures + 1] * interval '1 second' end;
end
$$;
