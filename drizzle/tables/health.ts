/** Counts of attempts, for a webhook's health and the overview. */
import { bigint, integer, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { OUTCOMES } from '../../src/contract/statuses.ts';
import { preciseInstant } from './columns.ts';

/**
 * Attempts of a webhook per hour, outcome and answer time (delivery/queue/maintenance/hour-counter.ts). `took` is the least integer with `1.1 ^
 * took` ms no less than the time; -1 without an answer. A day's hours later become one row, its first; older ones are deleted.
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

/**
 * Attempts of a webhook, or of a whole partner, per quarter of an hour. `counts` of deliveries arrived at their first attempt within the
 * times of `classes` (ratio as `took`), measured from the event's commit.
 */
export const attemptSteps = pgTable(
  'attempt_steps',
  {
    subjectId: uuid('subject_id').notNull(),
    step: preciseInstant('step').notNull(),
    delivered: integer('delivered').notNull(),
    failed: integer('failed').notNull(),
    classes: smallint('classes').array().notNull(),
    counts: integer('counts').array().notNull(),
  },
  (table) => [primaryKey({ name: 'attempt_steps_pkey', columns: [table.subjectId, table.step] })],
);
