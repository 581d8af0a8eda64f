import { sql } from 'drizzle-orm';
import { bigint, boolean, check, integer, pgTable, smallint } from 'drizzle-orm/pg-core';
import { preciseInstant, xid8 } from './columns.ts';

/**
 * What the installation knows of its server, one row. `tx` is meaningful on one server only, so orders by transaction are by (epoch, tx).
 * The epoch is the timeline, which PostgreSQL raises at each promotion and point-in-time recovery, plus `epoch_base`, which `adopt` raises
 * after a copy to another server (server_fault.sql).
 */
export const installation = pgTable(
  'installation',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    systemIdentifier: bigint('system_identifier', { mode: 'bigint' }).notNull(),
    epochBase: integer('epoch_base').notNull().default(0),
    /** The first epoch of this server's own transactions; all of earlier ones are over. */
    ownFrom: smallint('own_from').notNull(),
    /** The highest seen; a server below either went back. */
    timeline: integer('timeline').notNull(),
    nextTx: xid8('next_tx').notNull(),
    notedAt: preciseInstant('noted_at').notNull().defaultNow(),
    /** Loan numbers: where partners are spread over several installations, each has a start below the same step. */
    loanNumberStart: integer('loan_number_start').notNull().default(1),
    loanNumberStep: integer('loan_number_step').notNull().default(1),
  },
  (table) => [
    check('installation_is_only_check', sql`${table.isOnly}`),
    check('installation_loan_numbers', sql`loan_number_start between 1 and loan_number_step`),
  ],
);
