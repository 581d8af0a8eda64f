-- The text of a payload's key; null where it lacks the key, and in a payload that PostgreSQL cannot read, which only a superuser can
-- write: `->>` raises on the character \u0000 and on half of a surrogate pair, wherever they stand.
-- The guard is inside of the operand: a plan for one call holds the payload as a constant, and `data ->> key` alone would be
-- evaluated while it is made, whatever the guard says.
-- Its cost is said to be low, or the planner would not take `envelope` into the view `messages`, and each message start a function.
create or replace function field_of(data json, key text) returns text
  language sql immutable parallel safe cost 1
return (case when pg_input_is_valid(data::text, 'jsonb') then data end) ->> key;
