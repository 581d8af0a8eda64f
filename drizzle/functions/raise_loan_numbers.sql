-- Raises a series of loan numbers above `highest`, an imported number; it never lowers one. A caller that takes a number
-- meanwhile waits for this transaction: a number taken between the look and the raise would be given twice.
create or replace function raise_loan_numbers(series text, highest bigint) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  name constant regclass := loan_numbers(series);
  first constant bigint := first_above(highest);
  is_below boolean;
begin
  for look in 1 .. 2 loop
    execute format('select last_value < $1 - case when is_called then (select loan_number_step from installation) else 0 end from %s', name)
      into is_below using first;
    exit when not is_below;
    if look = 1 then
      perform pg_advisory_xact_lock(advisory_lock('raising'));
    else
      perform setval(name, first, false);
    end if;
  end loop;
end
$$;
