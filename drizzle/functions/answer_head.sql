-- Of what is kept of a receiver's answer (src/delivery/sending/answer.ts) the header fields, a line each; null when there are none.
create or replace function answer_head(answer text) returns text
language sql immutable strict parallel safe set search_path from current
return nullif(substring(answer from '^(?:[^\n]+\n)*'), '');
