-- The counter of a series of loan numbers: a year's, or P for provisional ones. next_loan_number applies the installation's start and step.
-- A sequence, so callers never wait; a row per series would serialise all loans of a year. Made ahead (make_loan_numbers); one made late,
-- for loans copied by hand, starts above the existing numbers.
create or replace function loan_numbers(series text) returns regclass
  language plpgsql volatile set search_path from current
as $$
declare
  name constant text := 'loan_numbers_' || lower(series);
begin
  if series !~ '^(P|[0-9]{4})$' then
    raise exception 'there is no series "%" of loan numbers', series;
  end if;
  if to_regclass(name) is null then
    -- One makes it; who comes meanwhile waits for that one's commit, and then finds it.
    perform pg_advisory_xact_lock(advisory_lock('numbering'));
    execute (
      select format('create sequence if not exists %I as bigint start with %s', name, 1 + loan_numbers_until(coalesce(max(n), 0)))
      from (
        select split_part(number, '-', 2)::bigint as n from (select number from loans union all select number from numbered_loans) known
        where number ~ ('^' || series || '-[0-9]+$')
      ) counted
    );
  end if;
  return name::regclass;
end
$$;

-- How many loan numbers of the installation are not above `number`.
create or replace function loan_numbers_until(number bigint) returns bigint
  language sql stable set search_path from current
return (
  select ceil(greatest(number + 1 - loan_number_start, 0) / loan_number_step::numeric)::bigint from installation
);

-- Makes the counters of this year and the next ahead: no request creates one, while DDL is frozen or refused, at a year's turn.
create or replace function make_loan_numbers() returns void
  language plpgsql volatile security definer set search_path from current
as $$
declare
  today constant timestamp := now() at time zone 'America/Sao_Paulo';
begin
  perform loan_numbers('P'), loan_numbers(to_char(today, 'YYYY')), loan_numbers(to_char(today + interval '1 year', 'YYYY'));
end
$$;
