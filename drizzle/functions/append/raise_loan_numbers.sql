-- Raises a series of loan numbers above `highest`, an imported number; never lowers it. Both this and taking a number hold a session's
-- lock, or a number taken in between would be given twice; a transaction's lock would make them wait for its end. A rollback leaves a gap.
-- A series without a counter needs none: made late, it starts above the existing loans.
create or replace function raise_loan_numbers(series text, highest bigint) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  name constant regclass := to_regclass('loan_numbers_' || lower(series));
  given constant bigint := loan_numbers_until(highest);
  is_below boolean := name is not null;
  is_held boolean := false;
begin
  loop
    if is_below then
      execute format('select last_value - case when is_called then 0 else 1 end < $1 from %s', name) into is_below using given;
    end if;
    exit when is_held or not is_below;
    perform pg_advisory_lock(advisory_lock('raising'));
    is_held := true;
  end loop;
  if is_below then
    perform setval(name, given);
  end if;
  if is_held then
    perform pg_advisory_unlock(advisory_lock('raising'));
  end if;
exception when others or query_canceled then
  -- As in next_loan_number.
  perform pg_advisory_unlock(advisory_lock('raising'));
  raise;
end
$$;
