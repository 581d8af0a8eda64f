/** The database a command works on: the one it was given, or the embedded one under the data folder. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { migrate, refuseUnfit } from '../db/migrate.ts';
import { pendingMigrations } from '../db/pending-migrations.ts';
import { Pool, type PoolOptions } from '../db/pool.ts';
import { codeOf, isUnavailable } from '../db/unavailable.ts';
import type { Logger } from '../log-lines.ts';

export interface OpenDatabase {
  readonly url: string;
  /** For migrations and advisory locks. */
  readonly directUrl: string;
  readonly isEmbedded: boolean;
  /** Leaves the embedded server, which the last process out stops. */
  close(): Promise<void>;
}

/** Opens the database; the embedded one is started if need be and always brought up to date. */
export async function openDatabase(config: Config, log: Logger): Promise<OpenDatabase> {
  const { databaseUrl, directDatabaseUrl, dataDir } = config;
  if (databaseUrl !== null) {
    const directUrl = directDatabaseUrl ?? databaseUrl;
    return { url: databaseUrl, directUrl, isEmbedded: false, close: async () => undefined };
  }
  const { startEmbedded } = await import('../db/embedded.ts');
  const { url, leave } = await startEmbedded(dataDir, log);
  try {
    await migrateDatabase(config, url, log);
  } catch (error) {
    await leave();
    throw error;
  }
  return { url, directUrl: url, isEmbedded: true, close: leave };
}

/** Applies what is pending. */
export async function migrateDatabase(config: Config, directUrl: string, log: Logger): Promise<void> {
  const installation = { schema: config.databaseSchema, rolePrefix: config.databaseRolePrefix };
  await migrate(directUrl, log, { installation });
}

export function openPool(
  config: Config,
  url: string,
  name: string,
  max: number,
  deadlineMs: number,
  settings?: PoolOptions['settings'],
): Pool {
  const { databasePrepare: prepare, databaseSchema: schema } = config;
  return new Pool({ url, schema, name: `carteiro ${name}`, max, deadlineMs, prepare, settings });
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
      const pending = await pool.run((sql) => pendingMigrations(sql, pool.schema));
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
