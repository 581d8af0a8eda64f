-- Raises a series of loan numbers above `highest`, an imported number; never lowers it. Both this and taking a number hold a lock, or a
-- number taken in between would be given twice; and give it back by undoing their block, however it ends, so that nobody waits for the end
-- of a transaction. What a sequence counted is never undone: a rollback leaves a gap.
-- A series without a counter needs none: made late, it starts above the existing loans.
create or replace function raise_loan_numbers(series text, highest bigint) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  name constant regclass := to_regclass('loan_numbers_' || lower(series));
begin
  if name is null then
    return;
  end if;
  perform pg_advisory_xact_lock(advisory_lock('raising'));
  execute format('select setval(%1$L, $1) from %1$s where last_value - case when is_called then 0 else 1 end < $1', name)
  using loan_numbers_until(highest);
  raise sqlstate 'CT001';
exception when sqlstate 'CT001' then
  return;
end
$$;
