/** The simulated registry's state (sandbox only). */
import { sql } from 'drizzle-orm';
import { bigint, check, index, json, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { MARGIN_ERROR_KINDS } from '../../src/contract/statuses.ts';
import { CLOCK, ownId, preciseInstant } from './columns.ts';
import { oneOf } from './constraints.ts';
import { BOND_KINDS } from './jobs.ts';
import { OF_LOAN } from './loans.ts';

/** Its answer to a loan's next registration. */
export const simulatedRegistrations = pgTable('simulated_registrations', {
  loanId: uuid('loan_id').primaryKey().references(OF_LOAN),
  error: text('error'),
});

/** One answer to each registration, however often it is asked. */
export const simulatedAnswers = pgTable('simulated_answers', {
  registrationId: uuid('registration_id').primaryKey(),
  answer: json('answer').notNull(),
  /** Until then it works on the registration and answers 202. */
  readyAt: preciseInstant('ready_at').notNull().defaultNow(),
});

/** Its answers to margin queries about a worker and employer. */
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

export const simulatedBonds = pgTable(
  'simulated_bonds',
  {
    id: ownId(),
    kind: text('kind', { enum: BOND_KINDS }).notNull(),
    partnerId: uuid('partner_id').notNull(),
    loanId: uuid('loan_id').notNull().references(OF_LOAN),
    data: json('data').notNull(),
    knownAt: preciseInstant('known_at').notNull().default(CLOCK),
  },
  (table) => [
    index('simulated_bonds_window').on(table.kind, table.knownAt),
    check('simulated_bonds_kind', oneOf('kind', BOND_KINDS)),
  ],
);
