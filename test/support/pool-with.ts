import type { Pool } from '../../src/db/pool.ts';

/** A pool that does as `pool` does, but for these calls. */
export function poolWith(pool: Pool, calls: Partial<Pick<Pool, 'run' | 'transaction'>>): Pool {
  const own = { schema: pool.schema, run: pool.run.bind(pool), transaction: pool.transaction.bind(pool) };
  return { ...own, ...calls } as Pool;
}
