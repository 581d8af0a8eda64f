/** The database a command works on: the one it was given, or the embedded one under the data folder. */
import type { Config } from '../config.ts';
import { migrate } from '../db/migrate.ts';
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
