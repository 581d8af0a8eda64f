-- The rules of a row of `deliveries`, as one CHECK (drizzle/tables/delivery.ts): nine CHECKs cost an insert 50 us, mostly for parsing. Each
-- name has its schema, as in is_sound_attempt.
create or replace function is_sound_delivery(
  status text, attempts integer, failures smallint, lost_in_row smallint, next_attempt_at timestamptz,
  finished_at timestamptz
) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return status operator(pg_catalog.=) any (array['pendente', 'entregue', 'erro', 'suspensa'])
    -- Pending is what is due sometime, and over is what has a time of its end.
    and (status operator(pg_catalog.=) 'pendente') operator(pg_catalog.=) (next_attempt_at is not null)
    and (status operator(pg_catalog.=) any (array['entregue', 'erro'])) operator(pg_catalog.=) (finished_at is not null)
    -- The slots of the longest schedule: the first attempt and those after its delays. `erro` with fewer spent is what an operator cancelled,
    -- which its order in `send_orders` tells.
    and failures operator(pg_catalog.>=) 0 and failures operator(pg_catalog.<=) {{MOST_FAILURES}}
    and (lost_in_row is null or lost_in_row operator(pg_catalog.>=) 1 and lost_in_row operator(pg_catalog.<=) 4)
    and attempts operator(pg_catalog.>=) failures;
end
$$;

do $$
begin
  if not exists (select from pg_constraint where conrelid = 'deliveries'::regclass and conname = 'deliveries_sound') then
    alter table deliveries add constraint deliveries_sound check (
      is_sound_delivery(status, attempts, failures, lost_in_row, next_attempt_at, finished_at)
    );
  end if;
end
$$;
