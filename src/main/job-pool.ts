/** The connections of a job that runs once and leaves. */
import type { Config } from '../config.ts';
import type { Pool } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';
import { codeOf, PERMISSION_DENIED } from '../db/unavailable.ts';
import { type CommandLine, EXIT, type ExitCode, Refusal } from './command.ts';
import { openDatabase } from './service/database.ts';
import { openPool } from './service/pools.ts';
import { untilFit } from './service/fitness.ts';
import { openProgress, type Progress } from './progress.ts';

/** A whole month of a large partner is one statement. */
const DEADLINE_MS = 10 * 60 * 1_000;
/** After this the job stops waiting, and fails because the database is out of reach. */
const WAIT_FOR_DATABASE_MS = 30_000;

/** Which login has a role's rights. */
const LOGINS = {
  owner: 'the login that runs migrate',
  app: 'the login of api',
  migrator: 'a login with the rights of api',
  auditor: 'the login of api or of an auditor',
} as const;

export interface JobOptions {
  /** A copy, which has not been adopted, is for those who only read. */
  readonly onUnknownServer?: 'refuse' | 'accept';
  /** The role whose rights it needs, for the sentence that says that the login lacks them. */
  readonly needs?: keyof typeof LOGINS;
  /** False for an operator, who gets the error immediately; a timer's job waits for the database. */
  readonly isPatient?: boolean;
  /** The job itself asks for a fit database, after a look at one that may have nothing of Carteiro. */
  readonly checksFirst?: boolean;
}

/** For those who only read, an auditor's login among them. */
export const READING: JobOptions = { onUnknownServer: 'accept', needs: 'auditor' };

/** What a job has beside its connections. */
export interface Around {
  readonly config: Config;
  readonly log: Logger;
  /** For a person at a terminal; it ends with the job. */
  readonly progress: Progress;
  readonly untilFit: () => Promise<unknown>;
}

export async function withJobPool<T>(
  { configure }: Pick<CommandLine, 'configure'>,
  work: (pool: Pool, around: Around) => Promise<T>,
  { onUnknownServer = 'refuse', needs = 'app', isPatient = true, checksFirst = false }: JobOptions = {},
): Promise<T> {
  const { config, log } = configure();
  const database = await openDatabase(config, log);
  const pool = openPool(config, database.url, 'job', DEADLINE_MS);
  pool.mend = async (error) => (await import('./service/archives.ts')).mend(config, pool, error);
  const progress = openProgress();
  const fit = () => untilFit(pool, log, AbortSignal.timeout(WAIT_FOR_DATABASE_MS), { onUnknownServer, isPatient });
  try {
    if (!checksFirst) await fit();
    return await work(pool, { config, log, progress, untilFit: fit });
  } catch (error) {
    throw codeOf(error) === PERMISSION_DENIED ? await lackingRights(pool, config, needs, error) : error;
  } finally {
    progress.end();
    await pool.close();
    await database.close();
  }
}

async function lackingRights(pool: Pool, config: Config, needs: keyof typeof LOGINS, error: unknown): Promise<Refusal> {
  const [{ login }] = await pool.run((sql) => sql<[{ login: string }]>`select quote_ident(current_user) as login`);
  const role = `${config.databaseRolePrefix}_${needs}`;
  return new Refusal(
    `the role ${login} lacks the rights of this command (${(error as Error).message}): run it with the DATABASE_URL of ` +
      `${LOGINS[needs]}, which is a member of ${role}`,
  );
}

/** What a job ends with: one line of JSON, and whether all was as it should be. */
export interface JobResult {
  readonly summary: object;
  readonly isGood: boolean;
}

export async function runJob(
  line: CommandLine,
  work: (pool: Pool, around: Around) => Promise<JobResult>,
  options?: JobOptions,
): Promise<ExitCode> {
  const { summary, isGood } = await withJobPool(line, work, options);
  line.print(JSON.stringify(summary));
  return isGood ? EXIT.done : EXIT.refused;
}

/** Stores a verdict by `keep`; null if it cannot (a standby, an auditor's login). That is logged, and the command continues. */
export async function keeping<T>(log: Logger, keep: () => Promise<T>): Promise<T | null> {
  try {
    return await keep();
  } catch (error) {
    log.warn({ code: codeOf(error) }, 'the verdict could not be kept, so the metrics still tell the one before');
    return null;
  }
}
