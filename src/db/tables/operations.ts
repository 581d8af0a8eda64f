/** What operators ask the database about the service itself: which pollers live, and what the balance last said. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { preciseInstant } from '../columns.ts';

/**
 * One row for each poller process, written by it every few seconds and taken away when it stops; of one that was killed,
 * a day later (main/operations/heartbeat). `schema` is a digest of the migrations that the poller knows.
 */
export const pollers = pgTable('pollers', {
  name: text('name').primaryKey(),
  host: text('host').notNull(),
  version: text('version').notNull(),
  schema: text('schema').notNull(),
  startedAt: preciseInstant('started_at').notNull().defaultNow(),
  seenAt: preciseInstant('seen_at').notNull().defaultNow(),
});

/** What each run of `audit balance` found, append-only. */
export const balanceVerdicts = pgTable(
  'balance_verdicts',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    fromDay: text('from_day').notNull(),
    toDay: text('to_day').notNull(),
    closes: boolean('closes').notNull(),
    /** Unexpected facts included, with which a balance closes all the same. */
    differences: integer('differences').notNull(),
    checkedAt: preciseInstant('checked_at').notNull().defaultNow(),
  },
  () => [check('balance_verdicts_differences', sql`differences >= 0 and (closes or differences > 0)`)],
);
