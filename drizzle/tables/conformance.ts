import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { ownId, preciseInstant } from './columns.ts';
import { OF_PARTNER } from './partners.ts';

/**
 * Runs that test a receiver from outside (conformance/runs.ts). `checks` grows during the run. `alive_until`: it writes again by then, or
 * was interrupted. `report`: signed; null where the run did not finish.
 */
export const conformanceRuns = pgTable(
  'conformance_runs',
  {
    id: ownId(),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull().references(OF_PARTNER),
    actor: text('actor').notNull(),
    startedAt: preciseInstant('started_at').notNull().defaultNow(),
    aliveUntil: preciseInstant('alive_until').notNull(),
    endedAt: preciseInstant('ended_at'),
    checks: jsonb('checks').notNull().default([]),
    report: text('report'),
  },
  (table) => [
    uniqueIndex('conformance_runs_under_way')
      .on(table.webhookId)
      .where(sql`ended_at is null`),
    index('conformance_runs_by_webhook').on(table.webhookId, table.id),
  ],
);
