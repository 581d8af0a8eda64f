-- Whether a CPF or CNPJ (`format`) is well-formed, not one repeated character, and ends with its check digits (modulo 11; as
-- src/contract/tax-ids.ts). A character counts as its code less 48 ('A' of a CNPJ is 17). Unrolled, because a loop would run a statement
-- per character.
create or replace function has_check_digits(value text, format text) returns boolean
  language plpgsql immutable parallel safe set search_path from current
as $$
declare
  b bytea;
  plain int; -- the characters' sum
  heavy int; -- by the first digit's weights
begin
  if value = repeat(left(value, 1), length(value)) then
    return false;
  elsif format = 'cpf' and length(value) = 11 and translate(value, '0123456789', '') = '' then
    b := value::bytea;
    plain := get_byte(b, 0) + get_byte(b, 1) + get_byte(b, 2) + get_byte(b, 3) + get_byte(b, 4) + get_byte(b, 5) + get_byte(b, 6)
           + get_byte(b, 7) + get_byte(b, 8) - 9 * 48;
    heavy := 10 * get_byte(b, 0) + 9 * get_byte(b, 1) + 8 * get_byte(b, 2) + 7 * get_byte(b, 3) + 6 * get_byte(b, 4)
           + 5 * get_byte(b, 5) + 4 * get_byte(b, 6) + 3 * get_byte(b, 7) + 2 * get_byte(b, 8) - 54 * 48;
    return heavy * 10 % 11 % 10 = get_byte(b, 9) - 48 and (heavy + plain + 2 * (get_byte(b, 9) - 48)) * 10 % 11 % 10 = get_byte(b, 10) - 48;
  elsif format = 'cnpj' and length(value) = 14
    and translate(value, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', '') = '' and translate(right(value, 2), '0123456789', '') = '' then
    b := value::bytea;
    plain := get_byte(b, 0) + get_byte(b, 1) + get_byte(b, 2) + get_byte(b, 3) + get_byte(b, 4) + get_byte(b, 5) + get_byte(b, 6)
           + get_byte(b, 7) + get_byte(b, 8) + get_byte(b, 9) + get_byte(b, 10) + get_byte(b, 11) - 12 * 48;
    heavy := 5 * get_byte(b, 0) + 4 * get_byte(b, 1) + 3 * get_byte(b, 2) + 2 * get_byte(b, 3) + 9 * get_byte(b, 4) + 8 * get_byte(b, 5)
           + 7 * get_byte(b, 6) + 6 * get_byte(b, 7) + 5 * get_byte(b, 8) + 4 * get_byte(b, 9) + 3 * get_byte(b, 10) + 2 * get_byte(b, 11)
           - 58 * 48;
    -- The second digit's weights are one more each; the fifth begins again at 2.
    return heavy * 10 % 11 % 10 = get_byte(b, 12) - 48
       and (heavy + plain - 8 * (get_byte(b, 4) - 48) + 2 * (get_byte(b, 12) - 48)) * 10 % 11 % 10 = get_byte(b, 13) - 48;
  end if;
  return false;
end
$$;
