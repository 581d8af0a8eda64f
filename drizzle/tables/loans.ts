/** The loans' projection and what the loan core keeps beside it. */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { DOCUMENT_TYPES, LOAN_STATUSES, REGISTRATION_STATUSES } from '../../src/contract/statuses.ts';
import { bytea, instant, preciseInstant, virtual } from './columns.ts';
import { oneOf } from './constraints.ts';
import { OF_PARTNER } from './partners.ts';

/**
 * The projection: `state` folds the loan's stream, and is what is read of it. Numbers are not unique: two imported loans may share one.
 * A loan that has been over for KEEP_MONTHS is away from `away_digest` on: its events left with their months, and its state goes with the
 * last of them (archive/leave.ts). Meanwhile the log lacks part of the stream, so nothing may be appended to or folded from it. Such a row
 * takes 0.15 KB in place of 1.2.
 */
export const loans = pgTable(
  'loans',
  {
    id: uuid('id').primaryKey(),
    partnerId: uuid('partner_id').notNull().references(OF_PARTNER),
    version: integer('version').notNull(),
    /** Days of its first and its last event; like all that follows but the state, of a loan that is away. */
    awayFrom: date('away_from'),
    awayTo: date('away_to'),
    /** Some events may still be in the database, and the state is; `maintain` goes on with it. Else null. */
    isLeaving: boolean('is_leaving'),
    /** The first six bytes, which are the time, of its events' ids: they find the files. */
    awayEvents: bytea('away_events'),
    /** `stream_digest` of its events: they come back unchanged, or not at all. */
    awayDigest: bytea('away_digest'),
    /** The digest of its worker's CPF, and the events that `worker_events` had of it; null where there were none. */
    awayWorker: bytea('away_worker'),
    awayOwn: uuid('away_own').array(),
    /** Not jsonb, which takes 110 B more a row. */
    state: json('state'),
    status: virtual<(typeof LOAN_STATUSES)[number]>('text', "state ->> 'status'")('status'),
    number: virtual<string>('text', "state ->> 'number'")('number'),
    disbursedOn: virtual<string>('text', "state ->> 'disbursedOn'")('disbursed_on'),
  },
  (table) => [
    index('loans_disbursed')
      .on(table.partnerId, table.id)
      .where(sql`state ->> 'status' = 'desembolsada'`),
    // Few days, so that an entry takes 6 B.
    index('loans_away')
      .on(table.awayTo)
      .where(sql`away_digest is not null`),
    index('loans_away_by_worker')
      .on(table.awayWorker)
      .where(sql`away_worker is not null`),
    index('loans_leaving')
      .on(table.id)
      .where(sql`is_leaving`),
    check('loans_version', sql`version >= 1`),
    check('loans_status', sql`state is null or ${oneOf(`coalesce(state ->> 'status', '')`, LOAN_STATUSES)}`),
    check(
      'loans_away',
      sql`num_nulls(away_from, away_to, away_events, away_digest) = case when state is null or is_leaving then 0 else 4 end`,
    ),
  ],
);
export const OF_LOAN = () => loans.id;

/** Registrations (averbações) as work: a `processando` row is leased to whoever asks the registry. */
export const registrations = pgTable(
  'registrations',
  {
    id: uuid('id').primaryKey(),
    loanId: uuid('loan_id').notNull().references(OF_LOAN),
    partnerId: uuid('partner_id').notNull(),
    status: text('status', { enum: REGISTRATION_STATUSES }).notNull().default('processando'),
    nextTryAt: preciseInstant('next_try_at').defaultNow(),
    tries: integer('tries').notNull().default(0),
    /** Unanswered calls in a row. */
    failures: integer('failures').notNull().default(0),
    /** The registry works on it and is asked for the result. */
    pending: boolean('pending').notNull().default(false),
    /** The registry's last answer, or why it was not asked, for the partner; null before the first try. */
    lastAnswer: text('last_answer'),
    /** `protocolo_registry`, where it was recorded through this row. */
    protocol: text('protocol'),
    /** The registry's answer after the loan had already ended otherwise; needs a person. */
    contradiction: json('contradiction'),
  },
  (table) => [
    index('registrations_due')
      .on(table.nextTryAt)
      .where(sql`status = 'processando'`),
    // A protocol belongs to one registration: a registry that repeats it is not trusted.
    uniqueIndex('registrations_protocol').on(table.protocol),
    uniqueIndex('registrations_one_open')
      .on(table.loanId)
      .where(sql`status = 'processando'`),
    check('registrations_status', oneOf('status', REGISTRATION_STATUSES)),
    check('registrations_due_iff_open', sql`(status = 'processando') = (next_try_at is not null)`),
  ],
);

/**
 * Closed months, written in the event's transaction: concurrent closings of a month collide here, whatever their snapshots. `settlements`
 * follows the log later.
 */
export const closedMonths = pgTable(
  'closed_months',
  {
    partnerId: uuid('partner_id').notNull(),
    month: text('month').notNull(),
    settlementId: uuid('settlement_id').notNull(),
    closedAt: instant('closed_at').notNull(),
  },
  (table) => [primaryKey({ name: 'closed_months_pkey', columns: [table.partnerId, table.month] })],
);

/** Which loan of a partner has a number, provisional or definitive; no other one may. */
export const numberedLoans = pgTable(
  'numbered_loans',
  {
    partnerId: uuid('partner_id').notNull(),
    number: text('number').notNull(),
    loanId: uuid('loan_id').notNull(),
  },
  (table) => [primaryKey({ name: 'numbered_loans_pkey', columns: [table.partnerId, table.number] })],
);

/** The first answer to each key, written in the transaction of its effect. A loan's never expires (remove_old_keys.sql). */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    partnerId: uuid('partner_id').notNull(),
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    requestHash: bytea('request_hash').notNull(),
    status: smallint('status'),
    body: json('body'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'idempotency_keys_pkey', columns: [table.partnerId, table.operation, table.key] }),
    // For erasures: finds answers about a loan, an authorization or a margin query.
    index('idempotency_keys_subject')
      .on(
        sql`coalesce(body ->> 'id', body ->> 'emprestimo_id', body ->> 'autorizacao_id', body ->> 'consulta_margem_id')`,
      )
      .where(sql`body is not null`),
    check('idempotency_keys_length', sql`char_length(key) between 1 and 255`),
    check('idempotency_keys_hash', sql`octet_length(request_hash) = 32`),
  ],
);

/** A loan's documents, each archived once; the log holds only their digests. */
export const documents = pgTable(
  'documents',
  {
    loanId: uuid('loan_id').notNull().references(OF_LOAN),
    type: text('type', { enum: DOCUMENT_TYPES }).notNull(),
    partnerId: uuid('partner_id').notNull(),
    fileName: text('file_name'),
    mediaType: text('media_type').notNull(),
    sha256: bytea('sha256').notNull(),
    content: bytea('content').notNull(),
    receivedAt: instant('received_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'documents_pkey', columns: [table.loanId, table.type] }),
    check('documents_type', oneOf('type', DOCUMENT_TYPES)),
    check('documents_media_type', sql`media_type in ('application/pdf', 'image/jpeg', 'image/png')`),
    check('documents_sha256', sql`sha256 = sha256(content)`),
    check('documents_size', sql`octet_length(content) between 1 and 8388608`),
  ],
);
