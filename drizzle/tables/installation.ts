/** What this installation knows of the server that it lies on. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, integer, pgTable, smallint } from 'drizzle-orm/pg-core';
import { preciseInstant, xid8 } from './columns.ts';

/**
 * One row. `tx` counts on one server only, so every order by transaction is one by (epoch, tx). The epoch is the server's
 * timeline, which PostgreSQL raises at each promotion and at each recovery to an earlier moment, plus `epoch_base`, which
 * `adopt` raises when the database was copied to another server (drizzle/functions/server_fault.sql).
 */
export const installation = pgTable(
  'installation',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    systemIdentifier: bigint('system_identifier', { mode: 'bigint' }).notNull(),
    epochBase: integer('epoch_base').notNull().default(0),
    /** The first epoch whose transactions this server's own count reaches; those before it are over, whatever they were. */
    ownFrom: smallint('own_from').notNull(),
    /** The highest that were seen; a server that is below either went back. */
    timeline: integer('timeline').notNull(),
    nextTx: xid8('next_tx').notNull(),
    notedAt: preciseInstant('noted_at').notNull().defaultNow(),
    /** Loan numbers of this installation: where partners are spread over several, each has a start below the same step. */
    loanNumberStart: integer('loan_number_start').notNull().default(1),
    loanNumberStep: integer('loan_number_step').notNull().default(1),
  },
  (table) => [
    check('installation_is_only_check', sql`${table.isOnly}`),
    check('installation_loan_numbers', sql`loan_number_start between 1 and loan_number_step`),
  ],
);
