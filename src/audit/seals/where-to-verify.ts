/** Which server's log is verified. */
import type { Pool } from '../../db/pool.ts';
import type { Reading } from '../../db/reports.ts';
import { readTreeHead } from './seal-log.ts';

/** Beyond this a row of the standby may seem to have been sealed too late. */
const MAX_LAG_S = 60;

/** Where reports are read, unless that standby lacks a given head (`size`: the largest, in seals) or is far behind. */
export async function whereToVerify({ pool, lagS }: Reading, primary: Pool, size: number): Promise<Pool> {
  if (lagS === null) return pool;
  const head = await pool.run(readTreeHead);
  return lagS <= MAX_LAG_S && size <= (head?.size ?? 0) ? pool : primary;
}
