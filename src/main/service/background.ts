/** A part that works beside the others, on a pool of its own, until it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';
import { whenFit } from './fitness.ts';
import { openPool, type PoolName } from './pools.ts';
import { failureOf, type Part, type ServiceDeps } from './service.ts';

/** A turn that is cut off is rolled back and done again by another process, so a stop need not wait for a silent network. */
const STOP_TIMEOUT_S = 1;

export interface Background {
  /** Shown in `pg_stat_activity`. */
  readonly name: PoolName;
  readonly deadlineMs: number;
  readonly work: (deps: { readonly pool: Pool; readonly log: Logger }, stopping: AbortSignal) => Promise<void>;
}

export function startBackground(
  { config, database, log, fit }: ServiceDeps,
  { name, deadlineMs, work }: Background,
): Part {
  const pool = openPool(config, database.url, name, deadlineMs);
  const stopping = new AbortController();
  const running = whenFit(fit, () => work({ pool, log }, stopping.signal));
  return {
    failed: failureOf(running),
    async stop() {
      stopping.abort();
      const over = running.catch(() => undefined);
      // Before the pool refuses: a job that is under way is given back.
      await Promise.race([over, sleep(STOP_TIMEOUT_S * 1_000, undefined, { ref: false })]);
      await pool.close(0);
      await over;
    },
  };
}
