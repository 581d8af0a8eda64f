-- Whether a text is 11 digits with a CPF's check digits, not all the same.
create or replace function is_cpf(digits text) returns boolean
  language sql immutable strict parallel safe
return case when digits ~ '^[0-9]{11}$' and digits <> repeat(left(digits, 1), 11) then (
  select sum(substr(digits, n, 1)::int * (11 - n)) filter (where n < 10) * 10 % 11 % 10 = substr(digits, 10, 1)::int
     and sum(substr(digits, n, 1)::int * (12 - n)) * 10 % 11 % 10 = substr(digits, 11, 1)::int
  from generate_series(1, 10) n) else false end;
