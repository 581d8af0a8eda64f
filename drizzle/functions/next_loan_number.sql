-- The next number of a series (loan_numbers). Gaps mean nothing.
create or replace function next_loan_number(series text) returns bigint
  language plpgsql volatile security definer set search_path from current
as $$
begin
  perform pg_advisory_xact_lock_shared(advisory_lock('raising'));
  return (select loan_number_start + (nextval(loan_numbers(series)) - 1) * loan_number_step from installation);
end
$$;
