-- The next number of a series (loan_numbers). Gaps mean nothing. The lock and its block are raise_loan_numbers'.
create or replace function next_loan_number(series text) returns bigint
  language plpgsql volatile security definer set search_path from current
as $$
declare
  -- Outside of the block: a counter that it makes stays.
  counter constant regclass := loan_numbers(series);
  given bigint;
begin
  perform pg_advisory_xact_lock_shared(advisory_lock('raising'));
  given := nextval(counter);
  raise sqlstate 'CT001';
exception when sqlstate 'CT001' then
  return (select loan_number_start + (given - 1) * loan_number_step from installation);
end
$$;
