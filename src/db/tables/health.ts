/** What is counted of the attempts, so that a webhook's health is read without reading them. */
import { bigint, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { OUTCOMES } from '../../contract/statuses.ts';
import { preciseInstant } from '../columns.ts';

/**
 * How many attempts of a webhook were recorded in an hour, by outcome and by how long the answer took
 * (delivery/queue/upkeep/hour-counter.ts). `took` is the least whole number for which `1.1 ^ took` milliseconds is no
 * less than the time; -1 where nobody answered. Older hours are taken away.
 */
export const attemptHours = pgTable(
  'attempt_hours',
  {
    webhookId: uuid('webhook_id').notNull(),
    hour: preciseInstant('hour').notNull(),
    outcome: text('outcome', { enum: OUTCOMES }).notNull(),
    took: smallint('took').notNull(),
    attempts: bigint('attempts', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ name: 'attempt_hours_pkey', columns: [table.webhookId, table.hour, table.outcome, table.took] }),
  ],
);
