/** The database a command works on: the one it was given, or the embedded one under the data folder. */
import type { Config } from '../config.ts';
import { Pool, type PoolOptions } from '../db/pool.ts';
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
    await migrateDatabase(url, log);
  } catch (error) {
    await leave();
    throw error;
  }
  return { url, directUrl: url, isEmbedded: true, close: leave };
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
