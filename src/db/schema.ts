/**
 * The tables. Every name is English except what a partner or an auditor reads, which is spelled as on the wire.
 * The event log and the attempts are append-only; the rest is state that can be explained by them.
 *
 * The hot tables (`messages`, `deliveries`, `arrivals`, `lanes`, `attempts`) carry no foreign key to `webhooks` or
 * `partners`: each check would lock the parent's row in share mode, and all writers of one partner would queue on it.
 * Their rows are made by `insert … select` from those very tables, which no role may delete from.
 */
import { sql, type SQL } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  jsonb,
  pgSequence,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { API_FAMILIES, RETRY_DELAYS_S } from '../contract/delivery.ts';
import { EVENT_TYPES } from '../contract/events.ts';
import {
  DELIVERY_STATUSES,
  DOCUMENT_MODES,
  DOCUMENT_TYPES,
  ISSUANCE_MODES,
  LOAN_STATUSES,
  MARGIN_ERROR_KINDS,
  OUTCOMES,
  REGISTRATION_STATUSES,
  SIGNING_MODES,
  WEBHOOK_CHANGES,
} from '../contract/statuses.ts';
import { bytea, instant, pgSnapshot, preciseInstant, xid8 } from './columns.ts';

const oneOf = (column: string, values: readonly string[]): SQL =>
  sql.raw(`${column} in (${values.map((value) => `'${value}'`).join(', ')})`);

const MAX_FAILURES = RETRY_DELAYS_S.length + 1;

/** How the sealer finds rows by transaction. BRIN fits, because rows are only added; it has no operators for xid8. */
const sealable = (table: string) =>
  index(`${table}_sealable`)
    .using('brin', sql`(tx::text::bigint)`)
    .with({ autosummarize: true });

/** Partners and their account, which only the operator sets. */
export const partners = pgTable(
  'partners',
  {
    id: uuid('id')
      .primaryKey()
      .default(sql`uuidv7()`),
    name: text('name').notNull(),
    active: boolean('active').notNull().default(true),
    signing: text('signing', { enum: SIGNING_MODES }).notNull().default('internal'),
    documents: text('documents', { enum: DOCUMENT_MODES }).notNull().default('agrupada'),
    issuance: text('issuance', { enum: ISSUANCE_MODES }).notNull().default('sincrona'),
    createdAt: instant('created_at')
      .notNull()
      .default(sql`now()`),
  },
  () => [
    check('partners_signing', oneOf('signing', SIGNING_MODES)),
    check('partners_documents', oneOf('documents', DOCUMENT_MODES)),
    check('partners_issuance', oneOf('issuance', ISSUANCE_MODES)),
  ],
);

/** Registrations as they are now. `sealed_secret`: key id, iv, tag and ciphertext (webhooks/secrets). */
export const webhooks = pgTable(
  'webhooks',
  {
    id: uuid('id').primaryKey(),
    partnerId: uuid('partner_id')
      .notNull()
      .references(() => partners.id),
    url: text('url').notNull(),
    events: text('events').array().notNull(),
    sealedSecret: bytea('sealed_secret').notNull(),
    /** The secret before the last rotation; it signs too until `previous_until`. */
    previousSealedSecret: bytea('previous_sealed_secret'),
    previousUntil: preciseInstant('previous_until'),
    active: boolean('active').notNull().default(true),
    createdAt: instant('created_at')
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    index('webhooks_active_by_partner')
      .on(table.partnerId, table.id)
      .where(sql`active`),
    check('webhooks_events', sql`cardinality(events) between 1 and 16`),
    check('webhooks_previous', sql`(previous_sealed_secret is null) = (previous_until is null)`),
  ],
);

/**
 * Every state a registration ever had, append-only. With `messages.snapshot` it tells which registrations each append
 * could see, so that the deliveries can be proved from history.
 */
export const webhookHistory = pgTable(
  'webhook_history',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id),
    partnerId: uuid('partner_id').notNull(),
    url: text('url').notNull(),
    events: text('events').array().notNull(),
    active: boolean('active').notNull(),
    /** What was done; a secret is never told here. */
    change: text('change', { enum: WEBHOOK_CHANGES }).notNull().default('criacao'),
    actor: text('actor').notNull(),
    requestId: uuid('request_id'),
    changedAt: instant('changed_at')
      .notNull()
      .default(sql`now()`),
    tx: xid8('tx')
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (table) => [
    index('webhook_history_by_webhook').on(table.webhookId, table.position),
    sealable('webhook_history'),
    check('webhook_history_change', oneOf('change', WEBHOOK_CHANGES)),
  ],
);

/** The append-only log. `data` is json, not jsonb: the envelope's bytes keep its key order. */
export const events = pgTable(
  'events',
  {
    position: bigint('position', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    id: uuid('id')
      .notNull()
      .default(sql`uuidv7()`),
    stream: uuid('stream').notNull(),
    version: integer('version').notNull(),
    type: text('type', { enum: EVENT_TYPES as [string, ...string[]] }).notNull(),
    family: text('family', { enum: API_FAMILIES }).notNull().default('backoffice'),
    partnerId: uuid('partner_id')
      .notNull()
      .references(() => partners.id),
    data: json('data').notNull(),
    occurredAt: instant('occurred_at').notNull(),
    actor: text('actor').notNull(),
    requestId: uuid('request_id'),
    tx: xid8('tx')
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (table) => [
    primaryKey({ name: 'events_pkey', columns: [table.stream, table.version] }),
    unique('events_id').on(table.id),
    index('events_in_order').on(table.partnerId, table.tx, table.position),
    sealable('events'),
    index('events_by_day').using('brin', table.occurredAt).with({ autosummarize: true }),
    check('events_version', sql`version >= 1`),
    check('events_type', oneOf('type', EVENT_TYPES)),
    check('events_family', oneOf('family', API_FAMILIES)),
  ],
);

/** One envelope an emitted event: the exact bytes that every attempt of every delivery sends. */
export const messages = pgTable(
  'messages',
  {
    eventId: uuid('event_id').primaryKey(),
    partnerId: uuid('partner_id').notNull(),
    type: text('type').notNull(),
    body: bytea('body').notNull(),
    fanOut: integer('fan_out').notNull(),
    /** The loan's version at the event; null for an event that is not of a loan's stream. */
    loanVersion: integer('loan_version'),
    snapshot: pgSnapshot('snapshot').notNull(),
  },
  () => [check('messages_fan_out', sql`fan_out >= 0`)],
);

/**
 * The outbox: one row per event and registration. While it is `pendente`, `next_attempt_at` is when it is due or, when
 * claimed, when its lease ends. `attempts` counts claims (the number of the latest attempt), `failures` the spent slots
 * of the schedule, `lost_in_row` the attempts lost one after the other since the last outcome.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    id: uuid('id')
      .primaryKey()
      .default(sql`uuidv7()`),
    eventId: uuid('event_id').notNull(),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    status: text('status', { enum: DELIVERY_STATUSES }).notNull().default('pendente'),
    attempts: integer('attempts').notNull().default(0),
    failures: smallint('failures').notNull().default(0),
    lostInRow: smallint('lost_in_row').notNull().default(0),
    nextAttemptAt: preciseInstant('next_attempt_at'),
    claimedBy: text('claimed_by'),
    claimedAt: preciseInstant('claimed_at'),
    createdAt: instant('created_at')
      .notNull()
      .default(sql`now()`),
    finishedAt: instant('finished_at'),
  },
  (table) => [
    // The registration first: in the order of its UUIDv7 events it is also each registration's list by time.
    unique('deliveries_once').on(table.webhookId, table.eventId),
    index('deliveries_stopped')
      .on(table.webhookId, table.status, table.eventId)
      .where(sql`status in ('erro', 'suspensa')`),
    index('deliveries_due')
      .on(table.webhookId, table.nextAttemptAt)
      .where(sql`status = 'pendente'`),
    index('deliveries_in_flight')
      .on(table.webhookId, table.nextAttemptAt)
      .where(sql`claimed_by is not null`),
    check('deliveries_status', oneOf('status', DELIVERY_STATUSES)),
    check('deliveries_due_iff_pending', sql`(status = 'pendente') = (next_attempt_at is not null)`),
    check('deliveries_finished', sql`(status in ('entregue', 'erro')) = (finished_at is not null)`),
    check('deliveries_claim', sql`(claimed_by is null) = (claimed_at is null)`),
    check('deliveries_claimed_is_pending', sql`claimed_by is null or status = 'pendente'`),
    check('deliveries_failures', sql.raw(`failures between 0 and ${MAX_FAILURES}`)),
    check('deliveries_exhausted', sql.raw(`(status = 'erro') <= (failures = ${MAX_FAILURES})`)),
    check('deliveries_lost_in_row', sql`lost_in_row between 0 and 4`),
    check('deliveries_attempts', sql`attempts >= failures`),
  ],
);

/** Insert-only wake rows: the core adds one for each webhook it gave work, and never touches a lane. */
export const arrivals = pgTable('arrivals', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  webhookId: uuid('webhook_id').notNull(),
});

/** One row per webhook with work: when to look at it next, and how many of its deliveries may be in flight. */
export const lanes = pgTable(
  'lanes',
  {
    webhookId: uuid('webhook_id').primaryKey(),
    nextDueAt: preciseInstant('next_due_at'),
    maxInFlight: integer('max_in_flight').notNull().default(8),
    saturated: boolean('saturated').notNull().default(false),
  },
  (table) => [
    index('lanes_due')
      .on(table.nextDueAt)
      .where(sql`next_due_at is not null`),
    check('lanes_max_in_flight', sql`max_in_flight between 1 and 1000`),
    check('lanes_saturated_wakes', sql`not saturated or next_due_at is not null`),
  ],
);

/** One row for every POST that may have left, append-only. A `late` row is the report of a poller that lost its lease. */
export const attempts = pgTable(
  'attempts',
  {
    deliveryId: uuid('delivery_id').notNull(),
    number: integer('number').notNull(),
    late: boolean('late').notNull().default(false),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    outcome: text('outcome', { enum: OUTCOMES }).notNull(),
    statusCode: smallint('status_code'),
    startedAt: instant('started_at').notNull(),
    durationMs: integer('duration_ms'),
    url: text('url').notNull(),
    address: text('address'),
    keyId: text('key_id'),
    poller: text('poller').notNull(),
    error: text('error'),
    answer: bytea('answer'),
    recordedAt: instant('recorded_at')
      .notNull()
      .default(sql`now()`),
    tx: xid8('tx')
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (table) => [
    primaryKey({ name: 'attempts_pkey', columns: [table.deliveryId, table.number, table.late] }),
    // What each costs a recorded attempt, of 4.2 µs for the bare insert: 1.0, 0.8, 0.3 µs; the failures' none.
    index('attempts_by_partner').on(table.partnerId, table.recordedAt),
    index('attempts_in_time').on(table.recordedAt),
    sealable('attempts'),
    index('attempts_failed')
      .on(table.outcome, table.recordedAt)
      .where(sql`outcome <> 'entregue'`),
    check('attempts_number', sql`number >= 1`),
    check('attempts_outcome', oneOf('outcome', OUTCOMES)),
    check('attempts_answered', sql`(status_code is not null) = (outcome in ('entregue', 'resposta_nao_2xx'))`),
    check('attempts_success', sql`(outcome = 'entregue') = coalesce(status_code between 200 and 299, false)`),
    check('attempts_measured', sql`(outcome = 'desconhecido') = (duration_ms is null)`),
    check('attempts_late_is_known', sql`not (late and outcome = 'desconhecido')`),
    check('attempts_answer_kept', sql`octet_length(answer) <= 1024`),
  ],
);

/**
 * The chain of seals, append-only: each covers every row of `events`, `attempts` and `webhook_history` whose transaction
 * lies from `first_tx` to before `end_tx`, where the next begins (audit/seal).
 */
export const seals = pgTable(
  'seals',
  {
    number: bigint('number', { mode: 'number' }).primaryKey(),
    firstTx: bigint('first_tx', { mode: 'number' }).notNull(),
    endTx: bigint('end_tx', { mode: 'number' }).notNull(),
    rows: integer('rows').notNull(),
    digest: bytea('digest').notNull(),
    previous: bytea('previous').notNull(),
    hash: bytea('hash').notNull(),
    sealedAt: instant('sealed_at').notNull(),
  },
  (table) => [
    unique('seals_in_order').on(table.firstTx),
    check('seals_number', sql`number >= 1`),
    check('seals_span', sql`first_tx < end_tx and rows > 0`),
    check('seals_digests', sql`octet_length(digest) = 32 and octet_length(previous) = 32 and octet_length(hash) = 32`),
  ],
);

/** The projection: `state` is the fold of the loan's stream; the other columns are read out of it. */
export const loans = pgTable(
  'loans',
  {
    id: uuid('id').primaryKey(),
    partnerId: uuid('partner_id')
      .notNull()
      .references(() => partners.id),
    version: integer('version').notNull(),
    state: jsonb('state').notNull(),
    status: text('status', { enum: LOAN_STATUSES }).generatedAlwaysAs(sql`state ->> 'status'`),
    number: text('number').generatedAlwaysAs(sql`state ->> 'number'`),
    disbursedOn: text('disbursed_on').generatedAlwaysAs(sql`state ->> 'disbursedOn'`),
  },
  (table) => [
    unique('loans_number').on(table.number),
    index('loans_disbursed')
      .on(table.partnerId, table.id)
      .where(sql`status = 'desembolsada'`),
    check('loans_version', sql`version >= 1`),
    check('loans_status', oneOf(`coalesce(state ->> 'status', '')`, LOAN_STATUSES)),
  ],
);

/** Provisional and definitive loan numbers; gaps are allowed. */
export const loanNumbers = pgSequence('loan_numbers', { maxValue: 99_999_999 });

/** Registrations (averbações) as work: a row that is `processando` is leased to whoever asks the registry. */
export const registrations = pgTable(
  'registrations',
  {
    id: uuid('id').primaryKey(),
    loanId: uuid('loan_id')
      .notNull()
      .references(() => loans.id),
    partnerId: uuid('partner_id').notNull(),
    status: text('status', { enum: REGISTRATION_STATUSES }).notNull().default('processando'),
    nextTryAt: preciseInstant('next_try_at').default(sql`now()`),
    tries: integer('tries').notNull().default(0),
  },
  (table) => [
    index('registrations_due')
      .on(table.nextTryAt)
      .where(sql`status = 'processando'`),
    uniqueIndex('registrations_one_open')
      .on(table.loanId)
      .where(sql`status = 'processando'`),
    check('registrations_status', oneOf('status', REGISTRATION_STATUSES)),
    check('registrations_due_iff_open', sql`(status = 'processando') = (next_try_at is not null)`),
  ],
);

/** The first answer to each key; written in the transaction of what it made, never expired. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    partnerId: uuid('partner_id').notNull(),
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    requestHash: bytea('request_hash').notNull(),
    status: smallint('status'),
    location: text('location'),
    body: json('body'),
    createdAt: instant('created_at')
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ name: 'idempotency_keys_pkey', columns: [table.partnerId, table.operation, table.key] }),
    check('idempotency_keys_length', sql`char_length(key) between 1 and 255`),
    check('idempotency_keys_hash', sql`octet_length(request_hash) = 32`),
  ],
);

/** Document pieces of a loan, each archived once; the log holds their digests and never their bytes. */
export const documents = pgTable(
  'documents',
  {
    loanId: uuid('loan_id')
      .notNull()
      .references(() => loans.id),
    type: text('type', { enum: DOCUMENT_TYPES }).notNull(),
    partnerId: uuid('partner_id').notNull(),
    fileName: text('file_name'),
    mediaType: text('media_type').notNull(),
    sha256: bytea('sha256').notNull(),
    content: bytea('content').notNull(),
    receivedAt: instant('received_at')
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ name: 'documents_pkey', columns: [table.loanId, table.type] }),
    check('documents_type', oneOf('type', DOCUMENT_TYPES)),
    check('documents_media_type', sql`media_type in ('application/pdf', 'image/jpeg', 'image/png')`),
    check('documents_sha256', sql`sha256 = sha256(content)`),
    check('documents_size', sql`octet_length(content) between 1 and 8388608`),
  ],
);

/** Answers of the registry to margin queries; a recent one is reused. Its id is also its stream in the log. */
export const marginQueries = pgTable(
  'margin_queries',
  {
    id: uuid('id')
      .primaryKey()
      .default(sql`uuidv7()`),
    partnerId: uuid('partner_id')
      .notNull()
      .references(() => partners.id),
    workerCpf: text('worker_cpf').notNull(),
    employerCnpj: text('employer_cnpj').notNull(),
    earningsCentavos: bigint('earnings_centavos', { mode: 'number' }).notNull(),
    marginCentavos: bigint('margin_centavos', { mode: 'number' }).notNull(),
    queriedAt: instant('queried_at')
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    index('margin_queries_latest').on(table.partnerId, table.workerCpf, table.employerCnpj, table.queriedAt),
    check('margin_queries_amounts', sql`earnings_centavos >= 0 and margin_centavos >= 0`),
  ],
);

/**
 * The margin query under way for one worker and employer: whoever holds the lease asks the registry, the others wait
 * for what it finds, which stays here when it is a failure.
 */
export const marginFlights = pgTable(
  'margin_flights',
  {
    partnerId: uuid('partner_id').notNull(),
    workerCpf: text('worker_cpf').notNull(),
    employerCnpj: text('employer_cnpj').notNull(),
    flight: uuid('flight').notNull(),
    leaseEndsAt: preciseInstant('lease_ends_at'),
    errorKind: text('error_kind', { enum: MARGIN_ERROR_KINDS }),
    error: text('error'),
  },
  (table) => [
    primaryKey({ name: 'margin_flights_pkey', columns: [table.partnerId, table.workerCpf, table.employerCnpj] }),
    check('margin_flights_error', sql`(error_kind is null) = (error is null)`),
    check('margin_flights_open_has_no_error', sql`lease_ends_at is null or error is null`),
  ],
);

export const BOND_KINDS = ['ended', 'new'] as const;

/**
 * Records of the registry about workers' bonds, kept at first sight, so that overlapping windows bring nothing twice.
 * `detected_at` is set when the record's event was emitted; until then each sync looks at it again.
 */
export const bondRecords = pgTable(
  'bond_records',
  {
    id: uuid('id')
      .primaryKey()
      .default(sql`uuidv7()`),
    kind: text('kind', { enum: BOND_KINDS }).notNull(),
    reference: text('reference').notNull(),
    partnerId: uuid('partner_id').notNull(),
    loanId: uuid('loan_id')
      .notNull()
      .references(() => loans.id),
    data: json('data').notNull(),
    seenAt: instant('seen_at')
      .notNull()
      .default(sql`now()`),
    detectedAt: instant('detected_at'),
    /** The event's data as the partner got it. */
    emitted: json('emitted'),
  },
  (table) => [
    unique('bond_records_once').on(table.kind, table.reference),
    index('bond_records_open')
      .on(table.id)
      .where(sql`detected_at is null`),
    index('bond_records_detected')
      .on(table.partnerId, table.kind, table.detectedAt, table.id)
      .where(sql`detected_at is not null`),
    check('bond_records_kind', oneOf('kind', BOND_KINDS)),
    check('bond_records_emitted', sql`(detected_at is null) = (emitted is null)`),
  ],
);

/** How far each scheduled job has looked. */
export const syncWindows = pgTable('sync_windows', {
  name: text('name').primaryKey(),
  until: preciseInstant('until').notNull(),
});

/** Closed monthly batches, one per partner and month. The id is also the stream in the log. */
export const settlements = pgTable(
  'settlements',
  {
    id: uuid('id')
      .primaryKey()
      .default(sql`uuidv7()`),
    partnerId: uuid('partner_id')
      .notNull()
      .references(() => partners.id),
    month: text('month').notNull(),
    installments: integer('installments').notNull(),
    contracts: integer('contracts').notNull(),
    totalCentavos: bigint('total_centavos', { mode: 'number' }).notNull(),
    closedAt: instant('closed_at').notNull(),
  },
  (table) => [
    unique('settlements_once').on(table.partnerId, table.month),
    check('settlements_month', sql`month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'`),
    check('settlements_counts', sql`installments >= contracts and contracts >= 0 and total_centavos >= 0`),
  ],
);

/** Which installments a closed batch has counted; each at most once. */
export const settledInstallments = pgTable(
  'settled_installments',
  {
    loanId: uuid('loan_id')
      .notNull()
      .references(() => loans.id),
    number: smallint('number').notNull(),
    settlementId: uuid('settlement_id')
      .notNull()
      .references(() => settlements.id),
  },
  (table) => [
    primaryKey({ name: 'settled_installments_pkey', columns: [table.loanId, table.number] }),
    check('settled_installments_number', sql`number between 1 and 96`),
  ],
);

/** What the simulated registry answers to the next registration of a loan (sandbox only). */
export const simulatedRegistrations = pgTable('simulated_registrations', {
  loanId: uuid('loan_id')
    .primaryKey()
    .references(() => loans.id),
  error: text('error'),
});

/** The simulated registry's own memory: one answer to one registration, however often it is asked. */
export const simulatedAnswers = pgTable('simulated_answers', {
  registrationId: uuid('registration_id').primaryKey(),
  answer: json('answer').notNull(),
});

/** What the simulated registry answers to margin queries about a worker and employer. */
export const simulatedMargins = pgTable(
  'simulated_margins',
  {
    partnerId: uuid('partner_id').notNull(),
    workerCpf: text('worker_cpf').notNull(),
    employerCnpj: text('employer_cnpj').notNull(),
    earningsCentavos: bigint('earnings_centavos', { mode: 'number' }),
    marginCentavos: bigint('margin_centavos', { mode: 'number' }),
    errorKind: text('error_kind', { enum: MARGIN_ERROR_KINDS }),
    error: text('error'),
  },
  (table) => [
    primaryKey({ name: 'simulated_margins_pkey', columns: [table.partnerId, table.workerCpf, table.employerCnpj] }),
    check(
      'simulated_margins_answer',
      sql`(error_kind is null) = (earnings_centavos is not null and margin_centavos is not null)`,
    ),
  ],
);

/** Bonds that the simulated registry knows of. */
export const simulatedBonds = pgTable(
  'simulated_bonds',
  {
    id: uuid('id')
      .primaryKey()
      .default(sql`uuidv7()`),
    kind: text('kind', { enum: BOND_KINDS }).notNull(),
    partnerId: uuid('partner_id').notNull(),
    loanId: uuid('loan_id')
      .notNull()
      .references(() => loans.id),
    data: json('data').notNull(),
    knownAt: preciseInstant('known_at')
      .notNull()
      .default(sql`clock_timestamp()`),
  },
  (table) => [
    index('simulated_bonds_window').on(table.kind, table.knownAt),
    check('simulated_bonds_kind', oneOf('kind', BOND_KINDS)),
  ],
);
