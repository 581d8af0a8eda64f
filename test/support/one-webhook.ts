/** A database of the file's own that holds one partner with one webhook, made anew before each test. */
import postgres from 'postgres';
import { beforeAll, beforeEach } from 'vitest';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { insertPartner, insertWebhook } from './outbox.ts';

const DEADLOCK = '40P01';

export interface OneWebhook {
  readonly database: TestDatabase;
  readonly pool: Pool;
  readonly sql: Sql;
  readonly partnerId: string;
  readonly webhookId: string;
}

/**
 * Takes everything of partners and deliveries away. What the test before left under way may hold one of the tables and want
 * the next: then PostgreSQL ends one of the two, and this is said again.
 */
export async function emptyDatabase(sql: Sql): Promise<void> {
  try {
    await sql`
      truncate partners, webhooks, webhook_history, events, deliveries, arrivals, lanes, attempts, failing_runs, failing_policy
      cascade`;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.code !== DEADLOCK) throw error;
    await emptyDatabase(sql);
  }
}

/** A database for the whole file, emptied before each test; `setUp` is then given it. */
export function useEmptyDatabase(setUp: (database: TestDatabase) => unknown): void {
  let database: TestDatabase;
  beforeAll(async () => void (database = await createTestDatabase()));
  beforeEach(async () => {
    await emptyDatabase(database.sql);
    await setUp(database);
  });
}

/** The same with one webhook. */
export function useOneWebhook(setUp: (given: OneWebhook) => unknown, url = 'https://partner.example/'): void {
  useEmptyDatabase(async (database) => {
    const { pool, sql } = database;
    const partnerId = await insertPartner(sql);
    const { id: webhookId } = await insertWebhook(sql, partnerId, url);
    await setUp({ database, pool, sql, partnerId, webhookId });
  });
}
