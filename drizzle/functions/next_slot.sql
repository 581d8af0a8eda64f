-- When a delivery is tried again after one more failure, which ended at `ended_at`. Null after the last failure of its schedule: the
-- delivery ends in `erro`. The argument is the whole delivery, so that no caller knows of schedules, which are in
-- src/contract/schedule.ts.
create or replace function next_slot(delivery deliveries, ended_at timestamptz) returns timestamptz
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return ended_at + ({{DELAYS_S}})[delivery.failures + 1] * interval '1 second';
end
$$;
