/** The policy for failing endpoints, and what it counts (delivery/queue/maintenance/failing). */
import { sql } from 'drizzle-orm';
import { boolean, check, integer, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { OUTCOMES } from '../../src/contract/statuses.ts';
import { preciseInstant } from './columns.ts';

/** One row while the policy is on: when somebody looked last. */
export const failingPolicy = pgTable(
  'failing_policy',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    lookedAt: preciseInstant('looked_at').notNull(),
  },
  (table) => [check('failing_policy_is_only_check', sql`${table.isOnly}`)],
);

/** Each webhook's current run of failures since its last success; no row after a success. */
export const failingRuns = pgTable(
  'failing_runs',
  {
    webhookId: uuid('webhook_id').primaryKey(),
    partnerId: uuid('partner_id').notNull(),
    failures: integer('failures').notNull(),
    firstFailedAt: preciseInstant('first_failed_at').notNull(),
    lastFailedAt: preciseInstant('last_failed_at').notNull(),
    lastOutcome: text('last_outcome', { enum: OUTCOMES }).notNull(),
    lastStatusCode: smallint('last_status_code'),
  },
  () => [check('failing_runs_span', sql`failures >= 1 and first_failed_at <= last_failed_at`)],
);
