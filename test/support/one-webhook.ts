/** A database of the file's own that holds one partner with one webhook, made anew before each test. */
import postgres from 'postgres';
import { beforeEach } from 'vitest';
import type { Sql } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { insertPartner, insertWebhook } from './outbox.ts';

const DEADLOCK = '40P01';

/**
 * Takes everything of partners and deliveries away. What the test before left under way may hold one of the tables and want
 * the next: then PostgreSQL ends one of the two, and this is said again.
 */
export async function emptyDatabase(sql: Sql): Promise<void> {
  try {
    await sql`
      truncate partners, webhooks, webhook_history, events, deliveries, pending, claims, keepers, lanes, attempts, failing_runs, failing_policy
      cascade`;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.code !== DEADLOCK) throw error;
    await emptyDatabase(sql);
  }
}

/** A database for the whole file, emptied before each test. */
export async function useEmptyDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  beforeEach(() => emptyDatabase(database.sql));
  return database;
}

/** The same with one webhook, which has the same id in each test. */
export async function useOneWebhook(url = 'https://partner.example/') {
  const database = await useEmptyDatabase();
  const { pool, sql } = database;
  const [{ partnerId, webhookId }] = await sql<[{ partnerId: string; webhookId: string }]>`
    select uuidv7() as "partnerId", uuidv7() as "webhookId"`;
  beforeEach(async () => {
    await insertPartner(sql, partnerId);
    await insertWebhook(sql, partnerId, url, undefined, webhookId);
  });
  return { database, pool, sql, partnerId, webhookId };
}
