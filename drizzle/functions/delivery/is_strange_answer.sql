-- Whether the kept part of a 2xx answer (src/delivery/sending/answer.ts) is none that a receiver of webhooks gives: a page of
-- HTML, or more than the 8 KiB that are read. Looks at the first 512 characters of the body, and at the kept length.
create or replace function is_strange_answer(answer text) returns boolean
language sql immutable strict parallel safe set search_path from current
return left(ltrim(coalesce(answer_body(answer), ''), E'\uFEFF \t\r\n'), 512) ~* '^(<!--[^>]*>\s*)?<(!doctype\s+html|html|head|body)[\s>]'
  or octet_length(answer_body(answer)) >= 8192 - 32
  or coalesce(answer_head(answer) ~* '(^|\n)content-length: *([1-9][0-9]{4,}|9[0-9]{3}|8[2-9][0-9]{2}|819[3-9])\s*(\n|$)', false);
