-- The sequence of a series of loan numbers: of a year, counted from the installation's start by its step, or of P, the provisional
-- numbers. Each series gets its sequence with its first number. Two callers never wait for each other; with a row for each series,
-- the loans of a year would be created one after the other. A sequence that is made late, of a year whose loans came from a copy
-- made by hand, starts above the numbers that are there.
create or replace function loan_numbers(series text) returns regclass
  language plpgsql volatile set search_path from current
as $$
declare
  name constant text := 'loan_numbers_' || lower(series);
begin
  if series !~ '^(P|\d{4})$' then
    raise exception 'there is no series "%" of loan numbers', series;
  end if;
  if to_regclass(name) is null then
    -- One makes it; who comes meanwhile waits for that one's commit, once a year, and then finds it.
    perform pg_advisory_xact_lock(advisory_lock('numbering'));
    execute (
      select format('create sequence if not exists %I as bigint increment by %s start with %s minvalue %s',
                    name, loan_number_step, first_above(coalesce(highest, -1)), loan_number_start)
      from installation, (
        select max(split_part(l.number, '-', 2)::bigint) as highest from loans l where l.number ~ ('^' || series || '-\d+$')
      ) counted
    );
  end if;
  return name::regclass;
end
$$;
