/** Margin queries, bonds and settlements. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { MARGIN_ERROR_KINDS } from '../../src/contract/statuses.ts';
import { instant, ownId, preciseInstant } from './columns.ts';
import { oneOf } from './constraints.ts';
import { OF_LOAN } from './loans.ts';
import { OF_PARTNER } from './partners.ts';

/** The registry's answers to margin queries; a recent one is reused. Its id is also its stream in the log. */
export const marginQueries = pgTable(
  'margin_queries',
  {
    id: ownId(),
    partnerId: uuid('partner_id').notNull().references(OF_PARTNER),
    workerCpf: text('worker_cpf').notNull(),
    employerCnpj: text('employer_cnpj').notNull(),
    earningsCentavos: bigint('earnings_centavos', { mode: 'number' }).notNull(),
    marginCentavos: bigint('margin_centavos', { mode: 'number' }).notNull(),
    queriedAt: instant('queried_at').notNull().defaultNow(),
  },
  (table) => [
    index('margin_queries_latest').on(table.partnerId, table.workerCpf, table.employerCnpj, table.queriedAt),
    check('margin_queries_amounts', sql`earnings_centavos >= 0`),
  ],
);

/**
 * The running margin query for a worker and employer: the lease's holder asks the registry, the others wait for its result; failures stay
 * here.
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
 * The registry's records of bonds, kept at first sight, so overlapping windows bring nothing twice. `detected_at`: when its event was
 * emitted; until then each sync looks again.
 */
export const bondRecords = pgTable(
  'bond_records',
  {
    id: ownId(),
    kind: text('kind', { enum: BOND_KINDS }).notNull(),
    reference: text('reference').notNull(),
    partnerId: uuid('partner_id').notNull(),
    loanId: uuid('loan_id').notNull().references(OF_LOAN),
    data: json('data').notNull(),
    seenAt: instant('seen_at').notNull().defaultNow(),
    detectedAt: instant('detected_at'),
    /** The event's data as the partner got it, and its id. */
    emitted: json('emitted'),
    eventId: uuid('event_id'),
  },
  (table) => [
    unique('bond_records_once').on(table.kind, table.reference),
    unique('bond_records_event').on(table.eventId),
    index('bond_records_open')
      .on(table.id)
      .where(sql`detected_at is null`),
    index('bond_records_detected')
      .on(table.partnerId, table.kind, table.detectedAt, table.id)
      .where(sql`detected_at is not null`),
    check('bond_records_kind', oneOf('kind', BOND_KINDS)),
    check(
      'bond_records_emitted',
      sql`(detected_at is null) = (emitted is null) and (emitted is null) = (event_id is null)`,
    ),
  ],
);

/** Records about loans unknown here; they move to `bond_records` when the loan comes. */
export const bondsUnknown = pgTable(
  'bonds_unknown',
  {
    kind: text('kind', { enum: BOND_KINDS }).notNull(),
    reference: text('reference').notNull(),
    partnerId: uuid('partner_id').notNull(),
    loanId: uuid('loan_id').notNull(),
    data: json('data').notNull(),
    seenAt: instant('seen_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'bonds_unknown_pkey', columns: [table.kind, table.reference] }),
    index('bonds_unknown_loan').on(table.loanId),
    check('bonds_unknown_kind', oneOf('kind', BOND_KINDS)),
  ],
);

export const syncWindows = pgTable('sync_windows', {
  name: text('name').primaryKey(),
  until: preciseInstant('until').notNull(),
});

/** Closed monthly batches, one per partner and month. The id is also the stream in the log. */
export const settlements = pgTable(
  'settlements',
  {
    id: ownId(),
    partnerId: uuid('partner_id').notNull().references(OF_PARTNER),
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

/**
 * The last month, `YYYY-MM`, of which a loan's installments were settled before its import (`import --closed-until`); no batch counts them.
 * The loan may not be in `loans` yet.
 */
export const settledElsewhere = pgTable(
  'settled_elsewhere',
  {
    loanId: uuid('loan_id').primaryKey(),
    partnerId: uuid('partner_id').notNull(),
    until: text('until').notNull(),
  },
  () => [check('settled_elsewhere_until', sql`until ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'`)],
);

/** Installments that a closed batch has counted; each at most once. */
export const settledInstallments = pgTable(
  'settled_installments',
  {
    partnerId: uuid('partner_id').notNull(),
    loanId: uuid('loan_id').notNull().references(OF_LOAN),
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
