/** The database a command works on: the one it was given, or the embedded one under the data folder. */
import type { Config } from '../../config.ts';
import type { Installation } from '../../db/installation.ts';
import { migrate } from '../../db/migrations/migrate.ts';
import { DatabaseUnavailable } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';
import { unlessStopped } from './stop-signals.ts';

export interface OpenDatabase {
  readonly url: string;
  /** For migrations and advisory locks. */
  readonly directUrl: string;
  readonly isEmbedded: boolean;
  /** Of `start`: stops the embedded server. */
  close(): Promise<void>;
}

const nothing = async () => undefined;

/**
 * Opens the database. With `owning`, which gives that up and throws its reason, the embedded one is started and brought up to date.
 * Without it the caller asks for the one that `start` runs. Throws {@link DatabaseUnavailable} where none does.
 */
export async function openDatabase(config: Config, log: Logger, owning?: AbortSignal): Promise<OpenDatabase> {
  const { databaseUrl, directDatabaseUrl, dataDir } = config;
  if (databaseUrl !== null)
    return { url: databaseUrl, directUrl: directDatabaseUrl ?? databaseUrl, isEmbedded: false, close: nothing };
  const { findEmbedded, startEmbedded } = await import('../../db/embedded/embedded.ts');
  if (owning === undefined) {
    const found = await findEmbedded(dataDir);
    if (found !== null) return { url: found, directUrl: found, isEmbedded: true, close: nothing };
    const advice = `set DATABASE_URL; or, for the embedded sandbox of DATA_DIR (${dataDir}), let npm start run beside this`;
    throw new DatabaseUnavailable(`there is no database: ${advice}`);
  }
  const { url, leave } = await startEmbedded(dataDir, log, { stopping: owning });
  try {
    await unlessStopped(owning, migrateDatabase(config, url, log));
    return { url, directUrl: url, isEmbedded: true, close: leave };
  } catch (error) {
    // Why it cannot be used is what the caller must hear.
    await leave().catch((err: unknown) => log.error({ err }, 'embedded PostgreSQL may still run'));
    throw error;
  }
}

/** Applies what is pending, and says whether the database finds itself on another server. */
export async function migrateDatabase(config: Config, directUrl: string, log: Logger): Promise<void> {
  await migrate(directUrl, log, { installation: installationOf(config) });
}

export function installationOf({ databaseSchema: schema, databaseRolePrefix: rolePrefix }: Config): Installation {
  return { schema, rolePrefix };
}
