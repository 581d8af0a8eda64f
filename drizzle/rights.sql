-- Who may do what. Append-only by right: of the roles below none can change or delete an event, an envelope, an attempt, a
-- seal, a line of history or the author of a resend. Nobody logs in as one of them; a login role is made a member:
--   carteiro_owner        owns everything; migrations, and the command that lets a partner back in
--   carteiro_app          the API, the workers, the jobs, and the operator's other commands
--   carteiro_poller       `poll`
--   carteiro_core         the loan core's own login: it may append events, and read the catalog and its events' deliveries
--   carteiro_migrator     brings history in, beside carteiro_app; for the time of a migration alone
--   carteiro_auditor      reads the auditors' views, the log's seals and heads, and of the tables what no CPF can stand in
--   carteiro_auditor_cpf  beside it: sees CPFs in the views, and reads the rows as they were sealed
-- Applied again whenever this file, a function or a view has changed: whatever was granted on the objects named here is
-- taken back first.
do $$
begin
  execute format(
    'revoke all on all tables in schema %1$I, carteiro_auditoria from carteiro_app, carteiro_poller, carteiro_core, carteiro_migrator, carteiro_auditor, carteiro_auditor_cpf;'
    'revoke all on all sequences in schema %1$I from carteiro_app, carteiro_poller, carteiro_core, carteiro_migrator, carteiro_auditor, carteiro_auditor_cpf;'
    'revoke all on all functions in schema %1$I from public, carteiro_app, carteiro_poller, carteiro_core, carteiro_migrator, carteiro_auditor, carteiro_auditor_cpf;'
    'grant usage on schema %1$I to carteiro_app, carteiro_poller, carteiro_core, carteiro_migrator, carteiro_auditor',
    current_schema());
end
$$;

-- `worker erase`: what overwrites is two functions, which overwrite no more than a sealed order lists.
grant select on erasure_orders, erasure_pages, cpf_reads to carteiro_app, carteiro_poller, carteiro_auditor_cpf;
grant insert (id, court_order, actor, reason, events, pages) on erasure_orders to carteiro_app;
grant insert (order_id, number, event_ids, remains) on erasure_pages to carteiro_app;
grant select, insert (order_id, cpf), update (next_page, looked_to) on erasures to carteiro_app;
grant select, insert on worker_events to carteiro_app;
grant insert (name, tx, position) on projections to carteiro_app;
grant insert (actor, operation, asked, request_id, events) on cpf_reads to carteiro_app;
grant execute on function without_cpf(json, text), erase_page(uuid, integer), end_erasure(uuid), erase_orphaned_attempts(uuid[]) to carteiro_app;
-- By the view `messages`, whose columns its reader computes.
grant execute on function erased(json) to carteiro_app, carteiro_poller;

-- `archive`, `maintain`: the acts; what removes is functions, which take no more than an act names.
grant select on archive_acts to carteiro_app, carteiro_poller, carteiro_auditor_cpf;
grant insert (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor, reason) on archive_acts to carteiro_app;
grant execute on function
  remove_archived(text, uuid[], integer[], timestamptz[], uuid[]), restore_archived(text, json, json),
  remove_old_keys(timestamptz, bigint), mark_leaving(date, bigint, uuid, integer), leave_archived(text, json), end_leaving(),
  bring_back(json, json) to carteiro_app;
grant select (id, version, is_leaving, away_from, away_to, away_events, away_digest) on loans to carteiro_poller, carteiro_auditor;
grant execute on function refuse_away(uuid) to carteiro_app, carteiro_poller;

grant select on system_history to carteiro_app, carteiro_poller;
grant insert (about, name, value, actor) on system_history to carteiro_app;

grant usage on schema carteiro_auditoria to carteiro_auditor;
grant select on
  carteiro_auditoria.parceiros, carteiro_auditoria.webhooks, carteiro_auditoria.historico_webhooks, carteiro_auditoria.historico,
  carteiro_auditoria.eventos, carteiro_auditoria.mensagens, carteiro_auditoria.entregas, carteiro_auditoria.tentativas,
  carteiro_auditoria.pedidos_envio, carteiro_auditoria.selos, carteiro_auditoria.historico_parceiros,
  carteiro_auditoria.apagamentos, carteiro_auditoria.apagamentos_eventos, carteiro_auditoria.leituras_cpf, carteiro_auditoria.arquivos,
  carteiro_auditoria.vereditos, carteiro_auditoria.historico_sistema
  to carteiro_auditor;
-- The views call them with the reader's rights.
grant execute on function
  mask(text), masked(text), lay_cpfs_bare(text), has_check_digits(text, text), answer_head(text), answer_body(text), poller_of(text), envelope(text, timestamptz, text, uuid, json),
  erased(json)
  to carteiro_auditor;

-- The `audit` commands: the log, and of the tables the columns that the views show as they are.
grant select on applied_migrations, installation, event_types, seals, seal_trees, seal_nodes, checkpoints, anchor_receipts, verify_verdicts,
  events_as_sealed, attempts_as_sealed, webhook_history_as_sealed, partner_history_as_sealed, send_orders_as_sealed, masked_facts
  to carteiro_auditor;
grant select (id, stream, version, type, partner_id, occurred_at, fan_out, loan_version, imported, snapshot, position, epoch, tx) on events to carteiro_auditor;
grant select (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, recorded_at, epoch, tx) on attempts to carteiro_auditor;
grant select (position, webhook_id, partner_id, events, active, change, changed_at, takes_effect_at, epoch, tx) on webhook_history to carteiro_auditor;
grant select (position, partner_id, name, active, signing, documents, issuance, change, changed_at, epoch, tx) on partner_history to carteiro_auditor;
grant select (position, kind, webhook_id, partner_id, delivery_ids, ordered_at, epoch, tx) on send_orders to carteiro_auditor;
grant select (position, id, court_order, events, pages, ordered_at, epoch, tx) on erasure_orders to carteiro_auditor;
grant select (order_id, done_at) on erasures to carteiro_auditor;
grant select on erasure_pages, erasure_orders_as_sealed, erasure_pages_as_sealed, cpf_reads_as_sealed to carteiro_auditor;
grant select (position, operation, asked, request_id, events, read_at, epoch, tx) on cpf_reads to carteiro_auditor;
grant select on worker_events, carteiro_auditoria.trabalhadores to carteiro_auditor_cpf;
grant select (id, away_worker, away_own) on loans to carteiro_auditor_cpf;
grant execute on function events_of_worker(bytea) to carteiro_app, carteiro_auditor_cpf;
grant select on balance_verdicts to carteiro_auditor;
grant select (position, act, month, first_seal, last_seal, place, manifest, deliveries, rows, done_at, epoch, tx) on archive_acts to carteiro_auditor;
grant select on archive_acts_as_sealed, system_history, system_history_as_sealed to carteiro_auditor;
grant select (event_id, partner_id, type, fan_out, snapshot) on messages to carteiro_auditor;
grant select (id, event_id, webhook_id, partner_id, status, attempts, next_attempt_at, created_at, finished_at) on deliveries to carteiro_auditor;
grant select (id, partner_id, events, active, created_at) on webhooks to carteiro_auditor;
grant select (id, name, active, signing, documents, issuance, created_at) on partners to carteiro_auditor;
-- Which release put a function in place: what a newer one has made is not altered.
grant select on applied_migrations to carteiro_auditor;
grant select (webhook_id, muted_at) on lanes to carteiro_auditor;
grant execute on function current_epoch(), cluster_timeline(), cluster_control(), field_of(json, text), reads_the_same(text)
  to carteiro_auditor;
-- `audit verify` makes the release's tables once more, with their constraints (src/db/migrations/compare-schema.ts).
grant execute on function
  is_sound_delivery(text, integer, smallint, smallint, timestamptz, timestamptz),
  is_sound_attempt(integer, boolean, text, smallint, integer, text, boolean)
  to carteiro_auditor;
-- Who may see CPFs reads the rows as they were sealed, and hashes the texts itself. No column holds a signing secret.
grant select on events, facts, attempts, targets, webhook_history, partner_history, send_orders to carteiro_auditor_cpf;
grant select (url) on webhooks to carteiro_auditor_cpf;

-- Both: what they read, and what they add. `epoch`, `tx`, `position` and `recorded_at` are left out of every grant to insert: a
-- row's place in the order is the database's to give, or a seal could be made to miss it.
grant select on applied_migrations, event_types, installation, partners, partner_history, webhooks, webhook_history, retired_keys, events, facts, messages, deliveries, pending, claims, keepers, lanes,
  attempts, targets, send_orders, seals, seal_trees, seal_nodes, checkpoints to carteiro_app, carteiro_poller;
grant insert (url, address, key_id) on targets to carteiro_app, carteiro_poller;
grant insert (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, target, url,
  address, key_id, claim, error, answer, body_digest) on attempts to carteiro_app, carteiro_poller;
grant update (status, attempts, failures, lost_in_row, next_attempt_at, finished_at)
  on deliveries to carteiro_app, carteiro_poller;
grant insert, update, delete on pending to carteiro_app, carteiro_poller;
grant insert, update, delete on claims, keepers to carteiro_poller;
grant insert on seals, seal_trees, seal_nodes to carteiro_app, carteiro_poller;
grant insert (size, root, note) on checkpoints to carteiro_app, carteiro_poller;
grant select on anchors, anchor_receipts to carteiro_app, carteiro_poller;
grant update (keeper, changed, window_size, max_in_flight, muted_at, failing_since, in_order, resumes_until, resting)
  on lanes to carteiro_app, carteiro_poller;
-- A row can be locked only with the right to update one of its columns: this is the one that nothing is decided by.
grant update (created_at) on partners, webhooks to carteiro_app, carteiro_poller;
grant execute on function
  advisory_lock(text), masked(text), answer_head(text), answer_body(text), poller_of(text), field_of(json, text),
  envelope(text, timestamptz, text, uuid, json),
  is_sound_delivery(text, integer, smallint, smallint, timestamptz, timestamptz),
  is_sound_attempt(integer, boolean, text, smallint, integer, text, boolean),
  flights(), first_ahead(uuid, uuid, int, boolean), waiting_of(lanes, timestamptz, uuid[], int), waiting_lanes(int), log_lost_attempts(uuid[]), hold_pending(uuid[]), lease(), next_slot(deliveries, timestamptz), cluster_timeline(), cluster_control(), current_epoch(), server_fault(), refuse_strange_server(), session_mark(), look_at_server(integer, xid8)
  to carteiro_app, carteiro_poller;

-- What operators are shown.
grant select on send_faults, present_send_faults, processes, scheduled_jobs, balance_verdicts, verify_verdicts, failing_policy, failing_runs to carteiro_app, carteiro_poller;
grant insert, update, delete on processes to carteiro_app, carteiro_poller;
grant insert, update on send_faults to carteiro_poller;
grant insert, update, delete on failing_policy, failing_runs to carteiro_poller;
grant insert (from_day, to_day, closes, differences) on balance_verdicts to carteiro_app;
grant select, insert, update, delete on balance_days to carteiro_app;
grant select on balance_days to carteiro_auditor;
grant insert (since, seals, rows, size, root, findings, found, finished) on verify_verdicts to carteiro_app;
grant insert, update on scheduled_jobs, anchors to carteiro_app;
grant insert (size, kind, place, receipt) on anchor_receipts to carteiro_app;

-- The policy for failing endpoints: a poller judges, and these alone may deactivate a webhook, send a notice, or keep the
-- operator's webhook as its variables say.
grant execute on function
  change_failing(uuid, text, timestamptz, text), make_notice(uuid, text, json), operator_partner(),
  keep_operator_webhook(text, bytea, text[])
  to carteiro_poller;
grant execute on function operator_partner() to carteiro_app;

-- Alerts to partners' people: the API keeps where to, the pollers tell.
grant select, insert, update, delete on alert_addresses to carteiro_app;
grant select, insert, update on alerts to carteiro_app;
grant select on alert_addresses to carteiro_poller;
grant select (id, number) on loans to carteiro_poller;
grant select, insert, update, delete on alerts to carteiro_poller;
grant select on receiver_certificates to carteiro_app;
grant select, insert, update on receiver_certificates to carteiro_poller;
grant select, insert, update, delete on conformance_runs to carteiro_app;
grant execute on function is_strange_answer(text) to carteiro_app, carteiro_poller;
-- Attempts by time, which the pollers count.
-- The sandbox's clock.
grant update (first_failed_at) on failing_runs to carteiro_app;
grant select on attempt_hours, attempt_steps to carteiro_app;
grant select, insert, update, delete on attempt_hours, attempt_steps to carteiro_poller;
grant execute on function
  wait_for_work(text, timestamptz, xid8, xid8[], timestamptz, float8, float8),
  poll_lanes(text, bigint, bigint, timestamptz, pg_snapshot, uuid[], uuid[], int[], int, int, uuid[], timestamptz[], uuid[], timestamptz[], int[], uuid[],
    timestamptz, float8, float8, json), poll_loans(text, bigint, bigint, timestamptz, timestamptz, json),
  take_lanes(text, int), renew(text), end_poller(text, boolean), end_lost(uuid[], timestamptz),
  poller_number(text), living_pollers(), sign_of_life(text, boolean)
  to carteiro_poller;

-- The lender's core brings its partners in over HTTP.
grant insert (id, name, signing, documents, issuance), update (name, signing, documents, issuance) on partners to carteiro_app;
grant insert (partner_id, name, active, signing, documents, issuance, change, actor) on partner_history to carteiro_app;
grant insert on webhooks to carteiro_app;
grant update (url, events, active, encrypted_secret, previous_encrypted_secret, previous_until, signs_from, label, encrypted_credentials, certificate_until,
  refusals, quiet_until) on webhooks to carteiro_app;
grant update (refusals, quiet_until) on webhooks to carteiro_poller;
grant insert (webhook_id, partner_id, url, events, active, change, actor, reason, request_id, changed_at, takes_effect_at)
  on webhook_history to carteiro_app;
grant insert (kind, webhook_id, partner_id, delivery_ids, actor, reason, request_id) on send_orders to carteiro_app, carteiro_poller;
grant insert (key_id, actor) on retired_keys to carteiro_app;
grant select, insert on documents, margin_queries, settlements, settled_installments, simulated_answers, simulated_bonds
  to carteiro_app;
grant select, insert (id, partner_id, version, state), update (partner_id, version, state) on loans to carteiro_app;
grant select, insert, update on registrations, idempotency_keys, margin_flights, bond_records, sync_windows,
  simulated_registrations, simulated_margins to carteiro_app;
grant select, insert, update, delete on bonds_unknown to carteiro_app;
grant execute on function has_format(text, text), has_check_digits(text, text) to carteiro_app, carteiro_core, carteiro_migrator;
grant select on cursor_keys, settled_elsewhere, numbered_loans, history_batches to carteiro_app;
grant select on history_batches to carteiro_poller;
grant select, update on projections to carteiro_app, carteiro_poller;
grant execute on function
  next_loan_number(text), make_loan_numbers(), event_fault(events), payload_fault(event_types, json), has_format(text, text), deactivate_partner(uuid, text, text), make_test_delivery(uuid, uuid, text, json, text), append_event(uuid, bigint, text, uuid, json, text, text, timestamptz, text), stream_version(uuid)
  to carteiro_app;

-- The loan core, in whatever language: it appends, asks which version it appends to, and numbers its loans.
grant execute on function
  next_loan_number(text), append_event(uuid, bigint, text, uuid, json, text, text, timestamptz, text),
  append_event(uuid, bigint, name, uuid, jsonb, text, text, timestamptz, text), stream_version(uuid)
  to carteiro_core;
grant select on event_types, core_deliveries, core_streams to carteiro_core;

-- History: no delivery is made of it, so nobody has the right who runs every day.
grant execute on function append_history(json[], text, timestamptz), stream_version(uuid) to carteiro_migrator;
grant select on event_types to carteiro_migrator;
