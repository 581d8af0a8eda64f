/** What is counted of the attempts, so that a webhook's health and the overview are read without reading them. */
import { bigint, integer, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { OUTCOMES } from '../../src/contract/statuses.ts';
import { preciseInstant } from './columns.ts';

/**
 * How many attempts of a webhook were recorded in an hour, by outcome and by how long the answer took
 * (delivery/queue/upkeep/hour-counter.ts). `took` is the least whole number for which `1.1 ^ took` milliseconds is no
 * less than the time; -1 where nobody answered. The hours of a day become one row, its first; older ones are taken away.
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
 * What became of the attempts of a webhook, and of all of a partner, in a quarter of an hour. `counts` of its deliveries arrived at
 * their first attempt within the times of `classes`, of the same ratio as `took`, from the commit of the event on.
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
