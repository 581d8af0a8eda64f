import type { Tx } from '../../db/pool.ts';
import { readLagS, readProgress } from '../../log/follow.ts';

/** The projector's name in `projections`. */
export const LOANS = 'loans';

/** How long the oldest event that is not projected yet has been in the log, in seconds. */
export async function readProjectorLagS(tx: Tx): Promise<number> {
  return readLagS(tx, await readProgress(tx, LOANS));
}
