-- The same masked, also what the cut after 1 KiB has left of a CPF.
create or replace function mask_answer(answer bytea) returns text
language sql immutable strict parallel safe set search_path from current
return case
  when octet_length(answer) < 1024 then mask(answer_text(answer))
  else regexp_replace(mask(answer_text(answer)),
    '(?:[0-9\uFF10-\uFF19]|%3[0-9])(?:(?:[0-9\uFF10-\uFF19]|%3[0-9])|(?:[\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD+-/_\u00B7\u2010-\u2015\u2024\u2027\u2043\u2044\u2212\u2215\u2E3A\u2E3B\u3001\u3002\uFE58\uFE63\uFF0B-\uFF0F]|%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]))*(?:%[0-9A-Fa-f]?|\\(?:u[0-9A-Fa-f]{0,3})?)?$',
    '***********')
end;
