-- The term of its poller's lock in which a claim was made (sign_of_life); null for a claim that ends with its lease alone.
create or replace function term_of(claim text) returns bigint
  language sql immutable strict parallel safe
return substring(claim from '/([0-9]+)[.][0-9]+$')::bigint;
