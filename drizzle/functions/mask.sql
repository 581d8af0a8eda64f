-- A text with what looks like a CPF, and each query string, masked: the passes of src/contract/masking.ts, one by one.
create or replace function mask(content text) returns text
language sql immutable strict parallel safe set search_path from current
return regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(content,
  '\uE000',
  '', 'g'),
  '([Hh][Tt][Tt][Pp][Ss]?:(?:\\?/){2}[^?#"<>\u0001-\u0020]*\?)[^#"<>\u0001-\u0020]+',
  '\1***********', 'g'),
  '(nome_trabalhador(?:\\?"|%22)?[\u0001-\u0020]*(?:[:=]|%3[AaDd])[\u0001-\u0020]*(?:\\?"|%22)?)(?:[^"\\&,;<%\u0001-\u001F]|%(?:20|C[0-9A-Fa-f]|[89ABab][0-9A-Fa-f]))+',
  '\1***********', 'g'),
  '(?<![0-9A-Za-z])([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})-([0-9A-Fa-f]{4})-([1-8][0-9A-Fa-f]{3})-([89ABab][0-9A-Fa-f]{3})-([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})(?![0-9A-Za-z])',
  E'\uE000\\1\uE000\\2-\uE000\\3-\uE000\\4-\uE000\\5-\uE000\\6\uE000\\7\uE000\\8\uE000', 'g'),
  '(?<![0-9])(20[0-9]{2})-([0-9]{8})(?![0-9])',
  E'\uE000\\1-\uE000\\2\uE000', 'g'),
  '(?:[0-9\uFF10-\uFF19]|%3[0-9])(?:(?:[\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD]|%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]){0,3}(?:[0-9\uFF10-\uFF19]|%3[0-9])){10,}',
  '***********', 'g'),
  '(?:[0-9\uFF10-\uFF19]|%3[0-9]){3}(?:[\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD+-/_\u00B7\u2010-\u2015\u2024\u2027\u2043\u2044\u2212\u2215\u2E3A\u2E3B\u3001\u3002\uFE58\uFE63\uFF0B-\uFF0F]|%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]){0,5}(?:[0-9\uFF10-\uFF19]|%3[0-9]){3}(?:[\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD+-/_\u00B7\u2010-\u2015\u2024\u2027\u2043\u2044\u2212\u2215\u2E3A\u2E3B\u3001\u3002\uFE58\uFE63\uFF0B-\uFF0F]|%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]){0,5}(?:[0-9\uFF10-\uFF19]|%3[0-9]){3}(?:[\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD+-/_\u00B7\u2010-\u2015\u2024\u2027\u2043\u2044\u2212\u2215\u2E3A\u2E3B\u3001\u3002\uFE58\uFE63\uFF0B-\uFF0F]|%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]){0,5}(?:[0-9\uFF10-\uFF19]|%3[0-9]){2}(?:[0-9\uFF10-\uFF19]|%3[0-9])*',
  '***********', 'g'),
  '(?:[0-9\uFF10-\uFF19]|%3[0-9])(?:(?:[\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD+-/_\u00B7\u2010-\u2015\u2024\u2027\u2043\u2044\u2212\u2215\u2E3A\u2E3B\u3001\u3002\uFE58\uFE63\uFF0B-\uFF0F]|%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]){1,5}(?:[0-9\uFF10-\uFF19]|%3[0-9])){10,}',
  '***********', 'g'),
  '\uE000',
  '', 'g');
