-- Raises a series of loan numbers above `highest`, an imported number; it never lowers one. A caller that takes a number
-- meanwhile waits for this transaction: a number taken between the look and the raise would be given twice. A series that has
-- no counter, a year long past, needs none: should it be made late, it starts above the loans that are there.
create or replace function raise_loan_numbers(series text, highest bigint) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  name constant regclass := to_regclass('loan_numbers_' || lower(series));
  given constant bigint := loan_numbers_until(highest);
  is_below boolean := name is not null;
begin
  for look in 1 .. 2 loop
    exit when not is_below;
    execute format('select last_value - case when is_called then 0 else 1 end < $1 from %s', name) into is_below using given;
    exit when not is_below;
    if look = 1 then
      perform pg_advisory_xact_lock(advisory_lock('raising'));
    else
      perform setval(name, given);
    end if;
  end loop;
end
$$;
