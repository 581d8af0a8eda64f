-- The schedule: when a delivery is tried again after one more failure, which ended at `ended_at`. Null after the sixth: it
-- ends in `erro`. It takes the delivery, so that only this function knows which schedule a delivery has. The contract's delays
-- are here and in src/contract/schedule.ts; a test compares them.
create or replace function next_slot(delivery deliveries, ended_at timestamptz) returns timestamptz
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return ended_at + (array[60, 300, 900, 3600, 21600])[delivery.failures + 1] * interval '1 second';
end
$$;
