/** The database a command works on: the one it was given, or the embedded one under the data folder. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { pendingMigrations, refuseUnfit } from '../db/migrate.ts';
import { Pool, type PoolOptions } from '../db/pool.ts';
import { codeOf, isUnavailable } from '../db/unavailable.ts';
import type { Logger } from '../log-lines.ts';
import { Interrupted, takeStopSignals, unlessStopped } from './stop-signals.ts';

export interface OpenDatabase {
  readonly url: string;
  /** For migrations and advisory locks. */
  readonly directUrl: string;
  readonly isEmbedded: boolean;
  /** Leaves the embedded server, which the last process out stops. */
  close(): Promise<void>;
}

/** As shells say that a command was ended by an interrupt. */
const EXIT_INTERRUPTED = 130;

/**
 * Opens the database; the embedded one is started if need be and always brought up to date. `stopping` gives that up and
 * throws its reason. Without it the caller is a command that runs to its end: then a signal stops the embedded server, if
 * nobody else uses it, before it ends the process.
 */
export async function openDatabase(config: Config, log: Logger, stopping?: AbortSignal): Promise<OpenDatabase> {
  const { databaseUrl, directDatabaseUrl, dataDir } = config;
  if (databaseUrl !== null) {
    const directUrl = directDatabaseUrl ?? databaseUrl;
    return { url: databaseUrl, directUrl, isEmbedded: false, close: async () => undefined };
  }
  if (stopping !== undefined) return openEmbedded(dataDir, log, stopping);
  const stop = new AbortController();
  let opened: OpenDatabase | null = null;
  const giveBack = takeStopSignals({
    onStop(signal) {
      stop.abort(new Interrupted(signal));
      log.warn({ signal }, 'interrupted: the work ends here');
      if (opened) void opened.close().finally(() => process.exit(EXIT_INTERRUPTED));
    },
    onInsist: () => process.exit(EXIT_INTERRUPTED),
  });
  try {
    opened = await openEmbedded(dataDir, log, stop.signal);
  } catch (error) {
    giveBack();
    throw error;
  }
  const database = opened;
  return { ...database, close: () => database.close().finally(giveBack) };
}

async function openEmbedded(dataDir: string, log: Logger, stopping: AbortSignal): Promise<OpenDatabase> {
  const { startEmbedded } = await import('../db/embedded.ts');
  const { url, leave } = await startEmbedded(dataDir, log, { stopping });
  try {
    await unlessStopped(stopping, migrateDatabase(url, log));
    return { url, directUrl: url, isEmbedded: true, close: leave };
  } catch (error) {
    // Why it cannot be used is what the caller must hear.
    await leave().catch((err: unknown) => log.error({ err }, 'embedded PostgreSQL may still run'));
    throw error;
  }
}

/** Applies what is pending. Loads drizzle, which a poller never needs. */
export async function migrateDatabase(directUrl: string, log: Logger): Promise<void> {
  const { migrate } = await import('../db/migrate.ts');
  await migrate(directUrl, log);
}

export function openPool(
  config: Config,
  url: string,
  name: string,
  max: number,
  deadlineMs: number,
  settings?: PoolOptions['settings'],
): Pool {
  return new Pool({ url, name: `carteiro ${name}`, max, deadlineMs, prepare: config.databasePrepare, settings });
}

const WAIT_MS = 500;
/** What a server answers to settings that it does not know, before anybody could ask for its version. */
const UNKNOWN_SETTING = '42704';
const NEEDED = "the server must be PostgreSQL 18, and know the parameters of the database's URL";

/**
 * Resolves when the database is reachable and fit to work on, waiting as long as it is out of reach. Throws when it is
 * not fit: too old, not durable, or not migrated.
 */
export async function untilFit(pool: Pool, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await pool.run(refuseUnfit);
      const pending = await pool.run(pendingMigrations);
      if (pending > 0) throw new Error(`${pending} migrations are pending: run the command 'migrate' first`);
      return;
    } catch (error) {
      if (codeOf(error) === UNKNOWN_SETTING)
        throw new Error(`${(error as Error).message}: ${NEEDED}`, { cause: error });
      if (!isUnavailable(error)) throw error;
      const { cause = error } = error as Error;
      log.warn({ code: codeOf(cause), reason: (cause as Error).message }, 'waiting for the database');
      await sleep(WAIT_MS);
    }
  }
}
