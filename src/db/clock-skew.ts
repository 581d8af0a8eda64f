import type { Tx } from './pool.ts';

/** Seconds between this process's clock (`nowMs`) and the database's, by which leases and schedules go; 0 within a round trip. */
export async function readClockSkewS(sql: Tx, nowMs: () => number): Promise<number> {
  const beforeMs = nowMs();
  const [{ now }] = await sql<[{ now: number }]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  // The answer was made somewhere in between, so that much is no skew.
  return Math.max(0, now - nowMs(), beforeMs - now) / 1_000;
}
