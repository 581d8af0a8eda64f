-- The beginning of the body, of the kept part of a receiver's answer (src/delivery/sending/answer.ts); null when it had none.
create or replace function answer_body(answer text) returns text
language sql immutable strict parallel safe set search_path from current
return nullif(regexp_replace(answer, '^(?:[^\n]+\n)*\n', ''), '');
