-- The header fields, a line each, of the kept part of a receiver's answer (src/delivery/sending/answer.ts); null when there are
-- none.
create or replace function answer_head(answer text) returns text
language sql immutable strict parallel safe set search_path from current
return nullif(substring(answer from '^(?:[^\n]+\n)*'), '');
