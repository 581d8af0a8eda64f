/** The connections of a job that runs once and leaves. */
import type { Config } from '../config.ts';
import type { Pool } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';
import { openDatabase, openPool } from './database.ts';
import { untilFit } from './fitness.ts';

const CONNECTIONS = 2;
/** A whole month of a large partner is one statement. */
const DEADLINE_MS = 10 * 60 * 1_000;
/** After this the job goes on, and fails, saying that the database is out of reach. */
const WAIT_FOR_DATABASE_MS = 30_000;

/** Runs `work` on a database that is fit for it, and closes everything behind it. A copy is for those who only read. */
export async function withJobPool<T>(
  config: Config,
  log: Logger,
  work: (pool: Pool) => Promise<T>,
  onStrange: 'refuse' | 'accept' = 'refuse',
): Promise<T> {
  const database = await openDatabase(config, log);
  const pool = openPool(config, database.url, 'job', CONNECTIONS, DEADLINE_MS);
  try {
    await untilFit(pool, log, AbortSignal.timeout(WAIT_FOR_DATABASE_MS), { onStrange });
    return await work(pool);
  } finally {
    await pool.close();
    await database.close();
  }
}
