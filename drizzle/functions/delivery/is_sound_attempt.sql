-- The rules of each row of `attempts`, as one CHECK: see drizzle/tables/delivery.ts. Each word names its schema, so no search
-- path changes what it means; a path of its own took a quarter of each call.
create or replace function is_sound_attempt(
  number integer, late boolean, outcome text, status_code smallint, duration_ms integer, answer text, has_url boolean
) returns boolean
  language plpgsql immutable parallel safe
as $$
begin
  return number operator(pg_catalog.>=) 1 and has_url
    and outcome operator(pg_catalog.=) any ('{{{OUTCOMES}}}')
    -- A status code is what a receiver answered, and success is one of 200 to 299.
    and (status_code is not null) operator(pg_catalog.=) (outcome operator(pg_catalog.=) any (array['entregue', 'resposta_nao_2xx']))
    and (outcome operator(pg_catalog.=) 'entregue')
      operator(pg_catalog.=) coalesce(status_code operator(pg_catalog.>=) 200 and status_code operator(pg_catalog.<=) 299, false)
    -- Nobody measured a lost attempt, and nobody reports one late.
    and (outcome operator(pg_catalog.=) 'desconhecido') operator(pg_catalog.=) (duration_ms is null)
    and not (late and outcome operator(pg_catalog.=) 'desconhecido')
    and (answer is null or pg_catalog.length(answer) operator(pg_catalog.<=) 12600);
end
$$;

do $$
begin
  if not exists (select from pg_constraint where conrelid = 'attempts'::regclass and conname = 'attempts_sound') then
    alter table attempts add constraint attempts_sound check (
      is_sound_attempt(number, late, outcome, status_code, duration_ms, answer, url is not null or target is not null)
    );
  end if;
end
$$;
