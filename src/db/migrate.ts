/**
 * Migrations, and whether a server is fit to hold the log.
 *
 * Invariant: any number of processes may migrate at once; a session's advisory lock lets one through, the rest find
 * nothing left to do. drizzle's migrator alone fails then, in the second process, on the objects of the first. The lock
 * needs a real session: behind a pooler in transaction mode give the direct URL.
 * A process killed half-way leaves nothing, because PostgreSQL's DDL rolls back with its transaction.
 */
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import journal from '../../drizzle/meta/_journal.json' with { type: 'json' };
import type { Logger } from '../log-lines.ts';
import { KEEPALIVES } from './connection.ts';
import { ipv6Host } from './ipv6-host.ts';
import type { Tx } from './pool.ts';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url));
/** Any number that no other application on the server uses. */
const MIGRATION_LOCK = 7_264_108_351;
const OLDEST_SERVER = 180_000;
/** The longest there is: 0, which is for ever, the driver leaves out, and then the role's timeouts would hold. */
const FOR_EVER_MS = 2_147_483_647;
const PATIENCE = {
  statement_timeout: FOR_EVER_MS,
  lock_timeout: FOR_EVER_MS,
  idle_in_transaction_session_timeout: 60_000,
  tcp_user_timeout: 60_000,
};

/** Brings the database at `url` up to date and throws when it cannot. Refuses an unfit server first. */
export async function migrate(url: string, log: Logger): Promise<void> {
  const [{ drizzle }, migrator] = await Promise.all([
    import('drizzle-orm/postgres-js'),
    import('drizzle-orm/postgres-js/migrator'),
  ]);
  const sql = postgres(url, {
    ...ipv6Host(url),
    max: 1,
    prepare: false,
    connect_timeout: 10,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { application_name: 'carteiro migrate', ...PATIENCE, ...KEEPALIVES },
  });
  try {
    await refuseUnfit(sql);
    // Not when connecting: a server too old to know it would say that, not how old it is.
    await sql`set transaction_timeout = 0`;
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`;
    const pending = await pendingMigrations(sql);
    if (pending === 0) return;
    await migrator.migrate(drizzle(sql), { migrationsFolder: MIGRATIONS_FOLDER });
    const skipped = await pendingMigrations(sql);
    if (skipped > 0) throw new Error(`${skipped} migrations are older than one already applied and were skipped`);
    log.info({ applied: pending }, 'database migrated');
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** How many of this version's migrations the database lacks. */
export async function pendingMigrations(sql: Tx): Promise<number> {
  const [{ known }] = await sql<[{ known: boolean }]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as known`;
  if (!known) return journal.entries.length;
  const rows = await sql<{ createdAt: string }[]>`
    select created_at::text as "createdAt" from drizzle.__drizzle_migrations`;
  const applied = new Set(rows.map((row) => Number(row.createdAt)));
  return journal.entries.filter((entry) => !applied.has(entry.when)).length;
}

/** Throws when the server is older than PostgreSQL 18 or would lose a commit that it has acknowledged. */
export async function refuseUnfit(sql: Tx): Promise<void> {
  const [server] = await sql<[{ number: number; version: string; synchronousCommit: string }]>`
    select current_setting('server_version_num')::int as number,
      current_setting('server_version') as version,
      current_setting('synchronous_commit') as "synchronousCommit"`;
  if (server.number < OLDEST_SERVER) {
    throw new Error(`PostgreSQL ${server.version} is too old: Carteiro needs PostgreSQL 18`);
  }
  if (server.synchronousCommit === 'off') {
    throw new Error('synchronous_commit = off loses acknowledged commits: set it to on and start again');
  }
}
