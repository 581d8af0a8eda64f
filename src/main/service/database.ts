/** The database a command works on: the one it was given, or the embedded one under the data folder. */
import type { Config } from '../../config.ts';
import type { Installation } from '../../db/installation.ts';
import { migrate } from '../../db/migrations/migrate.ts';
import type { Logger } from '../../log-lines.ts';
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
  const { databaseUrl, directDatabaseUrl } = config;
  if (databaseUrl !== null) {
    const directUrl = directDatabaseUrl ?? databaseUrl;
    return { url: databaseUrl, directUrl, isEmbedded: false, close: async () => undefined };
  }
  if (stopping !== undefined) return openEmbedded(config, log, stopping);
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
    opened = await openEmbedded(config, log, stop.signal);
  } catch (error) {
    giveBack();
    throw error;
  }
  const database = opened;
  return { ...database, close: () => database.close().finally(giveBack) };
}

async function openEmbedded(config: Config, log: Logger, stopping: AbortSignal): Promise<OpenDatabase> {
  const { startEmbedded } = await import('../../db/embedded/embedded.ts');
  const { url, leave } = await startEmbedded(config.dataDir, log, { stopping });
  try {
    await unlessStopped(stopping, migrateDatabase(config, url, log));
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
