/**
 * Migrations.
 *
 * Invariants. Everything lies in the installation's own schemas and belongs to its owner role; nothing outside them is
 * created, altered, owned or granted. Any number of processes may migrate at once: a session's advisory lock lets one
 * through, and the others find nothing left to do. (Behind a pooler in transaction mode, give the direct URL.)
 * A migration never holds up the system for long. Writers queue behind whoever waits for a lock, so a migration waits at most
 * {@link LOCK_TIMEOUT}, gives up its whole transaction, and tries again after a pause that doubles ({@link pauseAfter}). With a
 * pause of 1 s each time, a reader that stayed took writers from 1,300 appends/s to none for 2 s of every 3.
 * Crash: everything is one transaction, so a killed run leaves nothing. The exceptions are files that PostgreSQL accepts only
 * outside a transaction; they can be repeated.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogEntry } from '../../contract/event-catalog.ts';
import type { Logger } from '../../log-lines.ts';
import { DEFAULT_INSTALLATION, type Installation, searchPathOf } from '../installation.ts';
import { readServerFault, StrangeServer } from '../known-server.ts';
import { watchHolders } from './lock-holder.ts';
import { APPLIED_MIGRATIONS, type MigrationFile, readMigrationFiles, sqlFor } from './migration-files.ts';
import { MigrationRefused, reasonOf } from './migration-refused.ts';
import { pendingFiles, refuseLosses } from './pending-migrations.ts';
import { Pool, type Tx } from '../pool.ts';
import { refuseUnfit } from '../fitness/server-settings.ts';
import { untrusted } from '../connect/tls.ts';
import { prepareSchema, refuseEarlierRelease } from './prepare-schema.ts';
import { transactOrUndo } from '../transaction.ts';
import { codeOf, DatabaseUnavailable } from '../unavailable.ts';

/** The longest there is: 0, which is for ever, the driver leaves out, and then the role's timeouts would hold. */
const FOR_EVER_MS = 2_147_483_647;
const PATIENCE = {
  statement_timeout: String(FOR_EVER_MS),
  lock_timeout: String(FOR_EVER_MS),
  idle_in_transaction_session_timeout: '60000',
  tcp_user_timeout: '60000',
  // Left out by the driver, and set by the first statement: a server too old to know it would say that, not how old it is.
  transaction_timeout: '',
};
const UNKNOWN_SETTING = '42704';
const LOCK_TIMEOUT = '2s';
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 600_000;
const ANOTHER_MIGRATION_MS = 1_000;
/** About an hour: a migration that found no gap by then says who is in its way. */
const TRIES = 12;
const MIGRATION_TRIES = 600;
/** What a try meets when somebody else holds what it needs: lock_not_available, deadlock_detected. */
const BUSY = new Set(['55P03', '40P01', '25P04']);

export interface MigrateOptions {
  readonly installation?: Installation;
  /** Another folder than drizzle/, another catalog, and how often and how patiently to try, for tests. */
  readonly folder?: string;
  readonly catalog?: readonly CatalogEntry[];
  readonly tries?: number;
  readonly pauseMs?: number;
}

/**
 * Brings the database at `url` up to date. Throws {@link MigrationRefused} with PostgreSQL's reason and what to do when
 * it cannot; then nothing has changed. Throws {@link DatabaseUnavailable} when its session was ended. Refuses an unfit server
 * first.
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
          return await pool.run((sql) => warnOfStrangeServer(sql, log, installation));
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

/** How long writers are left alone after the `busy`-th time that a lock was taken: twice as long each time, 10 minutes at most. */
export function pauseAfter(busy: number, firstMs = FIRST_PAUSE_MS): number {
  return Math.min(firstMs * 2 ** (busy - 1), LONGEST_PAUSE_MS);
}

/** What the server or the socket said, which the pool may have wrapped. */
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

/** A copy is migrated as well as the original; whoever does so must hear what it is. */
async function warnOfStrangeServer(sql: Tx, log: Logger, { schema }: Installation): Promise<void> {
  const fault = await readServerFault(sql);
  if (fault !== null) log.warn({ schema }, new StrangeServer(fault).message);
}

/** A server too old to have that time-out is told how old it is by what follows. */
async function refuseUnfitAtLeisure(sql: Tx): Promise<void> {
  await sql`set transaction_timeout = 0`.catch((error: unknown) => {
    if (codeOf(error) !== UNKNOWN_SETTING) throw error;
  });
  await refuseUnfit(sql);
}

/** How many files were applied, or 'locked' when another migrator is at work. */
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
    if (pending.length === files.length) await refuseEarlierRelease(sql);
    // What comes before a file that must stand outside is committed first, so that it finds its tables.
    let rest = pending;
    for (let cut = rest.findIndex((file) => file.isOutside); cut >= 0; cut = rest.findIndex((file) => file.isOutside)) {
      if (cut > 0) await applyInside(sql, rest.slice(0, cut), installation);
      await applyOutside(sql, rest[cut] as MigrationFile, installation);
      rest = rest.slice(cut + 1);
    }
    if (rest.length > 0) await applyInside(sql, rest, installation);
    return pending.length;
  } finally {
    // A session that was lost has unlocked it.
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

/** For `create index concurrently if not exists`, which a killed run leaves invalid: such an index is dropped first. */
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
