/**
 * Migrations.
 * Invariants: everything lies in the installation's own schemas and belongs to its owner role. Any number of processes may migrate at once:
 * a session's advisory lock admits one, and the others find nothing to do (behind a pooler in transaction mode, give the direct URL).
 * Writers queue behind a waiting migration, so it waits at most {@link LOCK_TIMEOUT} for a lock, rolls back, and retries after a doubling
 * pause ({@link pauseAfter}): with a constant pause of 1 s, a long reader would stop all appends two thirds of the time.
 * Crash: everything is one transaction, so a killed run leaves nothing. Files that PostgreSQL accepts only outside one are repeatable.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogEntry } from '../../contract/event-catalog.ts';
import type { Logger } from '../../log-lines.ts';
import { DEFAULT_INSTALLATION, type Installation, searchPathOf } from '../installation.ts';
import { readServerFault, UnknownServer } from '../known-server.ts';
import { watchHolders } from './lock-holder.ts';
import { APPLIED_MIGRATIONS, type MigrationFile, readMigrationFiles, sqlFor } from './migration-files.ts';
import { MigrationRefused, reasonOf } from './migration-refused.ts';
import { pendingFiles, refuseLosses } from './pending-migrations.ts';
import { Pool, type Tx } from '../pool.ts';
import { refuseUnfit } from '../fitness/server-settings.ts';
import { untrusted } from '../connect/tls.ts';
import { prepareSchema } from './prepare-schema.ts';
import { transactOrUndo } from '../transaction.ts';
import { codeOf, DatabaseUnavailable } from '../unavailable.ts';

/** The longest possible: the driver drops a 0, and the role's time-outs would hold. */
const FOR_EVER_MS = 2_147_483_647;
const PATIENCE = {
  statement_timeout: String(FOR_EVER_MS),
  lock_timeout: String(FOR_EVER_MS),
  idle_in_transaction_session_timeout: '60000',
  tcp_user_timeout: '60000',
  // Dropped by the driver, set by the first statement: a server too old for it would report that instead of its age.
  transaction_timeout: '',
};
const UNKNOWN_SETTING = '42704';
const LOCK_TIMEOUT = '2s';
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 600_000;
const ANOTHER_MIGRATION_MS = 1_000;
/** About an hour of tries; then the migration reports what blocks it. */
const TRIES = 12;
const MIGRATION_TRIES = 600;
/** lock_not_available, deadlock_detected, or a time-out of the transaction: somebody else holds a needed lock. */
const BUSY = new Set(['55P03', '40P01', '25P04']);

export interface MigrateOptions {
  readonly installation?: Installation;
  /** For tests. */
  readonly folder?: string;
  readonly catalog?: readonly CatalogEntry[];
  readonly tries?: number;
  readonly pauseMs?: number;
}

/**
 * Brings the database at `url` up to date; refuses an unfit server first. Throws {@link MigrationRefused} with PostgreSQL's reason and
 * advice, nothing changed; {@link DatabaseUnavailable} when its session was ended.
 */
export async function migrate(url: string, log: Logger, options: MigrateOptions = {}): Promise<void> {
  const { installation = DEFAULT_INSTALLATION, folder, catalog, tries, pauseMs = FIRST_PAUSE_MS } = options;
  const files = await readMigrationFiles(folder, catalog);
  const pool = new Pool({
    url,
    schema: installation.schema,
    name: 'carteiro migrate',
    max: 2,
    deadlineMs: FOR_EVER_MS,
    prepare: false,
    settings: PATIENCE,
  });
  try {
    await pool.run(refuseUnfitAtLeisure).catch((caught: unknown) => {
      const error = sourceOf(caught);
      throw untrusted(error) ?? (isSessionLost(error) ? sessionLost(error) : error);
    });
    const watch = watchHolders(pool);
    let busy = 0;
    for (let tried = 1; ; tried += 1) {
      try {
        const applied = await watch.run((sql) => applyOnce(sql, files, installation, catalog));
        if (applied !== 'locked') {
          if (applied > 0) log.info({ applied, schema: installation.schema }, 'database migrated');
          return await pool.run((sql) => warnOfUnknownServer(sql, log, installation));
        }
        if (tried >= (tries ?? MIGRATION_TRIES))
          throw new MigrationRefused('another migration is still running', 'wait for it, then try again');
        log.info({ tried }, 'waiting for another migration to end');
        await sleep(Math.min(pauseMs, ANOTHER_MIGRATION_MS));
      } catch (caught) {
        const error = sourceOf(caught);
        const { code = '', message } = error as { code?: string; message: string };
        if (isSessionLost(error)) throw sessionLost(error);
        if (!BUSY.has(code)) throw reasonOf(error, installation);
        const holder = watch.holder();
        busy += 1;
        if (busy >= (tries ?? TRIES))
          throw new MigrationRefused(`${message}; ${holder}`, 'end that transaction, then try again', error);
        const pause = pauseAfter(busy, pauseMs);
        const fields = { tried: busy, reason: message, holder, next_try_in_s: pause / 1000 };
        log.warn(fields, 'a lock that the migration needs is taken: trying again later');
        await sleep(pause);
      }
    }
  } finally {
    await pool.close();
  }
}

/** The pause after the `busy`-th failed lock: doubles each time, 10 minutes at most. */
export function pauseAfter(busy: number, firstMs = FIRST_PAUSE_MS): number {
  return Math.min(firstMs * 2 ** (busy - 1), LONGEST_PAUSE_MS);
}

/** The server's or socket's error, which the pool may have wrapped. */
function sourceOf(error: unknown): unknown {
  return error instanceof DatabaseUnavailable && untrusted(error) === null ? (error.cause ?? error) : error;
}

function isSessionLost(error: unknown): boolean {
  return (
    error instanceof DatabaseUnavailable || /^(57P0[12]|CONNECTION_.*|ECONNRESET|EPIPE)$/.test(codeOf(error) ?? '')
  );
}

function sessionLost(cause: unknown): DatabaseUnavailable {
  const what = 'the session of the migration was ended: what had not committed is undone; run it again';
  return new DatabaseUnavailable(what, { cause });
}

/** A copy is migrated too, with a warning. */
async function warnOfUnknownServer(sql: Tx, log: Logger, { schema }: Installation): Promise<void> {
  const fault = await readServerFault(sql);
  if (fault !== null) log.warn({ schema }, new UnknownServer(fault).message);
}

/** A server without this time-out is too old; the next check says so. */
async function refuseUnfitAtLeisure(sql: Tx): Promise<void> {
  await sql`set transaction_timeout = 0`.catch((error: unknown) => {
    if (codeOf(error) !== UNKNOWN_SETTING) throw error;
  });
  await refuseUnfit(sql);
}

/** The number of applied files, or 'locked' when another migrator is at work. */
async function applyOnce(
  sql: Tx,
  files: readonly MigrationFile[],
  installation: Installation,
  catalog?: readonly CatalogEntry[],
): Promise<number | 'locked'> {
  const name = `carteiro migrate ${installation.schema}`;
  const [{ taken }] = await sql<
    [{ taken: boolean }]
  >`select pg_try_advisory_lock(hashtextextended(${name}, 0)) as taken`;
  if (!taken) return 'locked';
  try {
    const pending = await pendingFiles(sql, files, installation.schema);
    if (pending.length === 0) return 0;
    await refuseLosses(sql, installation.schema, catalog);
    // Files before one that must stand outside are committed first, so that it finds its tables.
    let rest = pending;
    for (let cut = rest.findIndex((file) => file.isOutside); cut >= 0; cut = rest.findIndex((file) => file.isOutside)) {
      if (cut > 0) await applyInside(sql, rest.slice(0, cut), installation);
      await applyOutside(sql, rest[cut] as MigrationFile, installation);
      rest = rest.slice(cut + 1);
    }
    if (rest.length > 0) await applyInside(sql, rest, installation);
    return pending.length;
  } finally {
    // A lost session has released it.
    await sql`select pg_advisory_unlock(hashtextextended(${name}, 0))`.catch(() => undefined);
  }
}

async function applyInside(sql: Tx, files: readonly MigrationFile[], installation: Installation): Promise<void> {
  await transactOrUndo(sql, async (tx) => {
    await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await prepareSchema(tx, installation);
    await tx`select set_config('search_path', ${searchPathOf(installation.schema)}, true)`;
    await tx.unsafe(`set local role "${installation.rolePrefix}_owner"`);
    await tx.unsafe(APPLIED_MIGRATIONS);
    for (const file of files) await applyFile(tx, file, installation);
  });
}

/** A killed `create index concurrently if not exists` leaves an invalid index, which is dropped first. */
async function applyOutside(sql: Tx, file: MigrationFile, installation: Installation): Promise<void> {
  await sql`select set_config('search_path', ${searchPathOf(installation.schema)}, false)`;
  await sql.unsafe(`set role "${installation.rolePrefix}_owner"`);
  try {
    const invalid = await sql<{ name: string }[]>`
      select format('%I', c.relname) as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = current_schema()::regnamespace and not i.indisvalid`;
    for (const { name } of invalid) await sql.unsafe(`drop index concurrently if exists ${name}`);
    for (const statement of file.sql.split('--> statement-breakpoint')) {
      await sql.unsafe(sqlFor({ sql: statement }, installation));
    }
    await sql`insert into applied_migrations (name, hash) values (${file.name}, ${file.hash})`;
  } catch (error) {
    throw Object.assign(error as Error, { migration: file.name, isOutside: true });
  } finally {
    await sql`reset role`;
    await sql`reset search_path`;
  }
}

async function applyFile(tx: Tx, file: MigrationFile, installation: Installation): Promise<void> {
  try {
    await tx.unsafe(sqlFor(file, installation));
  } catch (error) {
    throw Object.assign(error as Error, { migration: file.name });
  }
  await tx`insert into applied_migrations (name, hash) values (${file.name}, ${file.hash})`;
}
