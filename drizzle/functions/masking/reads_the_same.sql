-- Whether `mask` surely leaves a text as it is: told at once of a short one of plain characters with fewer than 11 digits and no key
-- that is masked, else by masking it.
create or replace function reads_the_same(content text) returns boolean
  language sql immutable parallel safe
return coalesce(
  content ~ '^[-!#$&-,./0-9:;<=>@A-Z_a-z ]*$' and length(translate(content, '0123456789', '')) > length(content) - 11
    and content !~* 'nome|cpf'
  or mask(content) = content, true);
