-- The schedule: when a delivery is tried again after one more failure, which ended at `ended_at`. Null after the sixth failure, and
-- of a test after the first: the delivery ends in `erro`. The argument is the whole delivery, so that no caller knows of schedules.
-- The contract's delays are here and in src/contract/schedule.ts; a test compares them.
create or replace function next_slot(delivery deliveries, ended_at timestamptz) returns timestamptz
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return case when delivery.is_test is not true then ended_at + (array[60, 300, 900, 3600, 21600])[delivery.failures + 1] * interval '1 second' end;
end
$$;
