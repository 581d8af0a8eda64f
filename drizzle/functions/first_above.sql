-- The first loan number of the installation, which counts from a start by a step, that is above another.
create or replace function first_above(number bigint) returns bigint
  language sql stable set search_path from current
return (
  select loan_number_start + loan_number_step
           * ceil(greatest(number + 1 - loan_number_start, 0) / loan_number_step::numeric)::bigint
  from installation
);
