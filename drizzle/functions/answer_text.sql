-- A receiver's answer as text, without the bytes that are not UTF-8. We read it as LATIN1, where each byte is a character, and keep
-- the runs that match the pattern of well-formed UTF-8. A zero byte, which no text may hold, becomes a byte that is never UTF-8;
-- if we dropped it first, the bytes around it would join.
create or replace function answer_text(answer bytea) returns text
language sql immutable strict parallel safe set search_path from current
return convert_from(convert_to(regexp_replace(
  convert_from(decode(
    replace(replace(replace(encode(answer, 'escape'), '\\', '\400'), '\000', '\377'), '\400', '\\'), 'escape'), 'LATIN1'),
  '((?:[\u0001-\u007F]|[\u00C2-\u00DF][\u0080-\u00BF]|\u00E0[\u00A0-\u00BF][\u0080-\u00BF]|[\u00E1-\u00EC\u00EE\u00EF][\u0080-\u00BF]{2}|\u00ED[\u0080-\u009F][\u0080-\u00BF]|\u00F0[\u0090-\u00BF][\u0080-\u00BF]{2}|[\u00F1-\u00F3][\u0080-\u00BF]{3}|\u00F4[\u0080-\u008F][\u0080-\u00BF]{2})+)|.',
  '\1', 'g'), 'LATIN1'), 'UTF8');
