/** A migrated database for one test file, copied from the run's template (about 30 ms). */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject } from 'vitest';
import { Pool, type PoolOptions, type Sql } from '../../src/db/pool.ts';
import { endOf } from './ends.ts';

export interface TestDatabase {
  readonly url: string;
  /** The pool for the code under test. */
  readonly pool: Pool;
  /** Raw connections for arranging and asserting. */
  readonly sql: Sql;
  drop(): Promise<void>;
}

let admin: Sql | undefined;

/** On a connection that stays while a file makes and drops databases, and goes when it has rested. */
async function administer(statement: (sql: Sql) => Promise<unknown>): Promise<void> {
  admin ??= postgres(inject('adminUrl'), { max: 1, idle_timeout: 2, onnotice: () => undefined });
  await statement(admin);
}

function databaseName(): string {
  return `${inject('templateDatabase')}_${randomBytes(6).toString('hex')}`;
}

function urlOf(database: string): string {
  const url = new URL(inject('adminUrl'));
  url.pathname = `/${database}`;
  return url.href;
}

/** Creates an empty database, without the migrations, and returns its URL. */
export async function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = databaseName();
  await administer((sql) => sql`create database ${sql(name)}`);
  return { url: urlOf(name), drop: endOf(() => administer((sql) => sql`drop database ${sql(name)} with (force)`)) };
}

/** The databases of this file that stand; report-database.ts names them when a test fails. */
export const standing = new Set<string>();

/** One connection, unless more are asked for. No deadline of its own passes on a slow machine. */
export function openPool(url: string, options: Partial<PoolOptions> = {}): Pool {
  const pool = new Pool({ url, name: 'carteiro test', max: 1, deadlineMs: 600_000, ...options });
  endOf(() => pool.close(1));
  return pool;
}

/**
 * Creates a migrated database with a pool and raw connections to it; or a copy of the database at the URL `of`, to which nobody
 * may be connected.
 */
export async function createTestDatabase(of?: string): Promise<TestDatabase> {
  const name = databaseName();
  const template = of === undefined ? inject('templateDatabase') : new URL(of).pathname.slice(1);
  await administer((sql) => sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`);
  const url = urlOf(name);
  const pool = openPool(url, { max: 10 });
  const sql = postgres(url, {
    max: 4,
    onnotice: () => undefined,
    connection: { TimeZone: 'UTC', search_path: 'carteiro' },
  });
  standing.add(url);
  const drop = endOf(async () => {
    await Promise.all([pool.close(1), sql.end({ timeout: 1 })]);
    if (process.env['KEEP_TEST_DATABASE']) return;
    standing.delete(url);
    await administer((admin) => admin`drop database ${admin(name)} with (force)`);
  });
  return { url, pool, sql, drop };
}
