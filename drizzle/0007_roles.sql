-- Append-only by right. Four group roles, which nobody logs in as; a login role is made a member of one of them:
--   carteiro_owner        owns everything; migrations and `partner create`
--   carteiro_app          the API, the workers and the jobs
--   carteiro_poller       `poll`
--   carteiro_auditor      reads the views of the schema auditoria; a member of carteiro_auditor_cpf sees CPFs in them
-- Roles belong to the whole server: another database of it, or its administrator, may have made them already. A migrator
-- without CREATEROLE needs them made before, and itself a member of carteiro_owner.
do $$
declare
  role_name text;
begin
  foreach role_name in array array[
    'carteiro_owner', 'carteiro_app', 'carteiro_poller', 'carteiro_auditor', 'carteiro_auditor_cpf'
  ] loop
    if not exists (select from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception when duplicate_object or unique_violation then
        null; -- another database's migration was quicker
      end;
    end if;
  end loop;
  if not pg_has_role('carteiro_owner', 'usage') then
    execute format('grant carteiro_owner to %I', current_user);
  end if;
exception when insufficient_privilege then
  raise exception '% may not make the roles of Carteiro', current_user
    using errcode = 'insufficient_privilege',
      hint = 'an administrator runs: create role carteiro_owner nologin; the same for carteiro_app, carteiro_poller, '
        'carteiro_auditor, carteiro_auditor_cpf; then: grant carteiro_owner to the role that migrates';
end $$;
--> statement-breakpoint

-- A text as an auditor may read it: with what looks like a CPF masked, unless the reader was granted to see them.
create function masked(content text) returns text
language sql stable parallel safe
return case
  when pg_has_role('carteiro_auditor_cpf', 'usage') then content
  else regexp_replace(content, '\d{3}[.\s-]?\d{3}[.\s-]?\d{3}[-/.\s]?\d{2}\d*', '***********', 'g')
end;
--> statement-breakpoint

-- The auditors' views, named as on the wire. No secret is in any of them. The digest of a body is shown only with the
-- CPFs: a body's other fields are known, so its CPF could be found by trying.
create schema auditoria;
--> statement-breakpoint
create view auditoria.parceiros as
select id, name as nome, active as ativo, created_at as criado_em from partners;
--> statement-breakpoint
create view auditoria.webhooks as
select id, partner_id as parceiro_id, masked(url) as url, events as eventos, active as ativo, created_at as criado_em
from webhooks;
--> statement-breakpoint
create view auditoria.historico_webhooks as
select position as posicao, webhook_id, partner_id as parceiro_id, masked(url) as url, events as eventos, active as ativo,
       change as mudanca, actor as autor, request_id as requisicao_id, changed_at as mudado_em, tx as transacao
from webhook_history;
--> statement-breakpoint
create view auditoria.eventos as
select position as posicao, id, stream as fluxo, version as versao, type as evento, family as familia,
       partner_id as parceiro_id, masked(data::text) as dados, occurred_at as ocorrido_em, masked(actor) as autor,
       request_id as requisicao_id, tx as transacao
from events;
--> statement-breakpoint
create view auditoria.mensagens as
select event_id as evento_id, partner_id as parceiro_id, type as evento, masked(convert_from(body, 'UTF8')) as corpo,
       case when pg_has_role('carteiro_auditor_cpf', 'usage') then encode(sha256(body), 'hex') end as corpo_sha256,
       fan_out, loan_version as versao_emprestimo, snapshot as fotografia
from messages;
--> statement-breakpoint
create view auditoria.entregas as
select id, event_id as evento_id, webhook_id, partner_id as parceiro_id, status, attempts as total_tentativas,
       next_attempt_at as proxima_tentativa_em, created_at as criada_em, finished_at as concluida_em
from deliveries;
--> statement-breakpoint
create view auditoria.tentativas as
select delivery_id as entrega_id, number as numero, late as atrasada, webhook_id, partner_id as parceiro_id,
       outcome as resultado, status_code as status_http, started_at as inicio, duration_ms as duracao_ms,
       masked(url) as url, address as endereco, key_id as chave_id, poller, masked(error) as erro,
       masked(encode(answer, 'escape')) as resposta, recorded_at as registrada_em, tx as transacao
from attempts;
--> statement-breakpoint
create view auditoria.selos as
select number as numero, first_tx as primeira_transacao, end_tx as transacao_final, rows as linhas, digest as resumo,
       previous as anterior, hash, sealed_at as selado_em
from seals;
--> statement-breakpoint
grant usage on schema auditoria to carteiro_auditor;
--> statement-breakpoint
grant select on all tables in schema auditoria to carteiro_auditor;
--> statement-breakpoint

-- Both: what they read, and what they add. `tx`, `position` and `recorded_at` are left out of every grant to insert: a
-- row's place in the order is the database's to give, or a seal could be made to miss it.
grant usage on schema drizzle to carteiro_app, carteiro_poller;
--> statement-breakpoint
grant select on drizzle.__drizzle_migrations to carteiro_app, carteiro_poller;
--> statement-breakpoint
grant select on partners, webhooks, webhook_history, events, messages, deliveries, arrivals, lanes, attempts, seals,
  sealable_rows to carteiro_app, carteiro_poller;
--> statement-breakpoint
grant insert (delivery_id, number, late, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
  address, key_id, poller, error, answer) on attempts to carteiro_app, carteiro_poller;
--> statement-breakpoint
grant update (status, attempts, failures, lost_in_row, next_attempt_at, claimed_by, claimed_at, finished_at)
  on deliveries to carteiro_app, carteiro_poller;
--> statement-breakpoint
grant insert (webhook_id) on arrivals to carteiro_app, carteiro_poller;
--> statement-breakpoint
grant insert on seals to carteiro_app, carteiro_poller;
--> statement-breakpoint
grant update on lanes to carteiro_app, carteiro_poller;
--> statement-breakpoint
-- A row can be locked only with the right to update one of its columns: this is the one that nothing is decided by.
grant update (created_at) on partners, webhooks to carteiro_app, carteiro_poller;
--> statement-breakpoint

grant insert on lanes to carteiro_poller;
--> statement-breakpoint
grant delete, update (webhook_id) on arrivals to carteiro_poller;
--> statement-breakpoint

grant insert (stream, version, type, family, partner_id, data, occurred_at, actor, request_id) on events to carteiro_app;
--> statement-breakpoint
grant insert on messages to carteiro_app;
--> statement-breakpoint
grant insert (event_id, webhook_id, partner_id, next_attempt_at) on deliveries to carteiro_app;
--> statement-breakpoint
grant insert on webhooks to carteiro_app;
--> statement-breakpoint
grant update (url, events, active, sealed_secret, previous_sealed_secret, previous_until) on webhooks to carteiro_app;
--> statement-breakpoint
grant insert (webhook_id, partner_id, url, events, active, change, actor, request_id, changed_at)
  on webhook_history to carteiro_app;
--> statement-breakpoint
grant select, insert on documents, margin_queries, settlements, settled_installments, simulated_answers, simulated_bonds
  to carteiro_app;
--> statement-breakpoint
grant select, insert, update on loans, registrations, idempotency_keys, margin_flights, bond_records, sync_windows,
  simulated_registrations, simulated_margins to carteiro_app;
--> statement-breakpoint
grant usage on sequence loan_numbers to carteiro_app;
--> statement-breakpoint

-- Ownership last: from here on the migrator works as a member of carteiro_owner.
do $$
declare
  object text;
begin
  execute format('grant create on database %I to carteiro_owner', current_database());
  grant usage, create on schema public to carteiro_owner;
  alter schema auditoria owner to carteiro_owner;
  for object in
    select format('alter table %I.%I owner to carteiro_owner', n.nspname, c.relname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'auditoria') and c.relkind in ('r', 'v')
    union all
    select format('alter sequence public.%I owner to carteiro_owner', c.relname)
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relname = 'loan_numbers'
    union all
    select format('alter function %s owner to carteiro_owner', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  loop
    execute object;
  end loop;
end $$;
