-- The text of a payload's key; null without it, and for a payload that PostgreSQL cannot read (only a superuser can write one): `->>`
-- raises on \u0000 and on half of a surrogate pair. The guard is inside the operand, because planning would evaluate a constant `data ->>
-- key` despite a guard outside. The low cost lets the planner inline `envelope` into the view `messages`.
create or replace function field_of(data json, key text) returns text
  language sql immutable parallel safe cost 1
return (case when pg_input_is_valid(data::text, 'jsonb') then data end) ->> key;
