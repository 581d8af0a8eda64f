import type { Tx } from './pool.ts';

/** The tolerance with which tokens' times are compared. */
export const SKEWED_S = 5;

/** Seconds between this process's clock (`nowMs`) and the database's, which leases and schedules follow; 0 within a round trip. */
export async function readClockSkewS(sql: Tx, nowMs: () => number): Promise<number> {
  const beforeMs = nowMs();
  const [{ now }] = await sql<[{ now: number }]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  return apartS(beforeMs, now, nowMs());
}

/** The server answered between the two readings; that interval counts as no skew. */
export function apartS(beforeMs: number, theirsMs: number, afterMs: number): number {
  return Math.max(0, theirsMs - afterMs, beforeMs - theirsMs) / 1_000;
}
