-- When a delivery is tried again after a failure that ended at `ended_at`; null after its schedule's last. Takes the whole delivery, so
-- that no caller knows of schedules (src/contract/schedule.ts).
create or replace function next_slot(delivery deliveries, ended_at timestamptz) returns timestamptz
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return ended_at + ({{DELAYS_S}})[delivery.failures + 1] * interval '1 second';
end
$$;
