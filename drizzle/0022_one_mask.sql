-- A text with what looks like a CPF, and each query string, masked: the passes of src/contract/masking.ts, one by one.
create function mask(content text) returns text
language sql immutable strict parallel safe
return regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(content,
  '\uE000',
  '', 'g'),
  '([Hh][Tt][Tt][Pp][Ss]?:(?:\\?/){2}[^?#"<>\u0001-\u0020]*\?)[^#"<>\u0001-\u0020]+',
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
--> statement-breakpoint
alter function mask owner to carteiro_owner;
--> statement-breakpoint

-- A text as an auditor may read it: masked, unless the reader was granted to see CPFs.
create or replace function masked(content text) returns text
language sql stable parallel safe
return case when pg_has_role('carteiro_auditor_cpf', 'usage') then content else mask(content) end;
--> statement-breakpoint

-- A receiver's answer as text, without the bytes that are none. Read as LATIN1, where each byte is a character, it can be
-- sifted by a pattern: what is well-formed UTF-8 is kept.
create function answer_text(answer bytea) returns text
language sql immutable strict parallel safe
return convert_from(convert_to(regexp_replace(
  convert_from(decode(regexp_replace(encode(answer, 'escape'), '(\\\\)|\\000', '\1', 'g'), 'escape'), 'LATIN1'),
  '((?:[\u0001-\u007F]|[\u00C2-\u00DF][\u0080-\u00BF]|\u00E0[\u00A0-\u00BF][\u0080-\u00BF]|[\u00E1-\u00EC\u00EE\u00EF][\u0080-\u00BF]{2}|\u00ED[\u0080-\u009F][\u0080-\u00BF]|\u00F0[\u0090-\u00BF][\u0080-\u00BF]{2}|[\u00F1-\u00F3][\u0080-\u00BF]{3}|\u00F4[\u0080-\u008F][\u0080-\u00BF]{2})+)|.',
  '\1', 'g'), 'LATIN1'), 'UTF8');
--> statement-breakpoint
alter function answer_text owner to carteiro_owner;
--> statement-breakpoint

-- The same masked, also what the cut after 1 KiB has left of a CPF.
create function mask_answer(answer bytea) returns text
language sql immutable strict parallel safe
return case
  when octet_length(answer) < 1024 then mask(answer_text(answer))
  else regexp_replace(mask(answer_text(answer)),
    '(?:[0-9\uFF10-\uFF19]|%3[0-9])(?:(?:[0-9\uFF10-\uFF19]|%3[0-9])|(?:[\u0001-\u0020\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F-\u2064\u3000\uFEFF\uFFFD+-/_\u00B7\u2010-\u2015\u2024\u2027\u2043\u2044\u2212\u2215\u2E3A\u2E3B\u3001\u3002\uFE58\uFE63\uFF0B-\uFF0F]|%(?:[0-24-9A-Fa-f][0-9A-Fa-f]|3[A-Fa-f])|\\u[0-9A-Fa-f]{4}|\\[nrt]))*(?:%[0-9A-Fa-f]?|\\(?:u[0-9A-Fa-f]{0,3})?)?$',
    '***********')
end;
--> statement-breakpoint
alter function mask_answer owner to carteiro_owner;
--> statement-breakpoint

create or replace view auditoria.historico_webhooks as
select position as posicao, webhook_id, partner_id as parceiro_id, masked(url) as url, events as eventos, active as ativo,
       change as mudanca, masked(actor) as autor, request_id as requisicao_id, changed_at as mudado_em, tx as transacao
from webhook_history;
--> statement-breakpoint
create or replace view auditoria.tentativas as
select delivery_id as entrega_id, number as numero, late as atrasada, webhook_id, partner_id as parceiro_id,
       outcome as resultado, status_code as status_http, started_at as inicio, duration_ms as duracao_ms,
       masked(url) as url, address as endereco, key_id as chave_id, poller, masked(error) as erro,
       case when pg_has_role('carteiro_auditor_cpf', 'usage') then answer_text(answer) else mask_answer(answer) end as resposta,
       recorded_at as registrada_em, tx as transacao
from attempts;
