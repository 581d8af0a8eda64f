-- The next number of a series (loan_numbers). Gaps mean nothing. The lock is raise_loan_numbers'.
create or replace function next_loan_number(series text) returns bigint
  language plpgsql volatile security definer set search_path from current
as $$
declare
  counter constant regclass := loan_numbers(series);
  given bigint;
begin
  perform pg_advisory_lock_shared(advisory_lock('raising'));
  given := nextval(counter);
  perform pg_advisory_unlock_shared(advisory_lock('raising'));
  return (select loan_number_start + (given - 1) * loan_number_step from installation);
exception when others or query_canceled then
  -- A cancellation may come behind the grant of the lock, before this function goes on. Where it was not granted, this warns.
  perform pg_advisory_unlock_shared(advisory_lock('raising'));
  raise;
end
$$;
