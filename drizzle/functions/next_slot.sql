-- The schedule: when a delivery is tried again after its `failures`-th failure, which ended at `ended_at`. Null after the
-- sixth: it ends in `erro`. The contract's delays are here and in RETRY_DELAYS_S (src/contract/delivery.ts); a test compares
-- them, and the pure model of the schedule (test/model/schedule.ts) with both.
create or replace function next_slot(failures integer, ended_at timestamptz) returns timestamptz
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return ended_at + (array[60, 300, 900, 3600, 21600])[failures] * interval '1 second';
end
$$;
