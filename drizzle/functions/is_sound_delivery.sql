-- The rules of each row of `deliveries`, as one CHECK: see drizzle/tables/delivery.ts.
-- Measured: nine CHECKs of plain SQL cost an insert of one row 50 us, of which most was reading them from text.
create or replace function is_sound_delivery(
  status text, attempts integer, failures smallint, lost_in_row smallint, next_attempt_at timestamptz, claimed_by text,
  claimed_at timestamptz, finished_at timestamptz
) returns boolean
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return status in ('pendente', 'entregue', 'erro', 'suspensa')
    -- Pending is what is due sometime, and over is what has a time of its end.
    and (status = 'pendente') = (next_attempt_at is not null)
    and (status in ('entregue', 'erro')) = (finished_at is not null)
    and (claimed_by is null) = (claimed_at is null)
    and (claimed_by is null or status = 'pendente')
    -- The slots of the longest schedule: the first attempt and those after its delays. `erro` with fewer spent is what an operator cancelled,
    -- which its order in `send_orders` tells.
    and failures between 0 and {{MOST_FAILURES}}
    and coalesce(lost_in_row between 1 and 4, true)
    and attempts >= failures;
end
$$;

do $$
begin
  if not exists (select from pg_constraint where conrelid = 'deliveries'::regclass and conname = 'deliveries_sound') then
    alter table deliveries add constraint deliveries_sound check (
      is_sound_delivery(status, attempts, failures, lost_in_row, next_attempt_at, claimed_by, claimed_at, finished_at)
    );
  end if;
end
$$;
