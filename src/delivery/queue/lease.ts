/**
 * The lease: past it whichever poller finds a claim ends it, so a crash needs no notice. The database counts it
 * (drizzle/functions/lease.sql), and tells each claim how long it is: so pollers of two releases agree while one replaces the
 * other.
 */
import { TIMES_S, timesFault } from '../../contract/delivery.ts';
import { delaysFault } from '../../contract/schedule.ts';
import type { Tx } from '../../db/pool.ts';

/** As long as this release's functions have it. */
export const LEASE_S = TIMES_S.lease;

/**
 * A send starts only with more of its lease left than this: the deadline of an attempt and the time to record it. Less, and
 * another poller could be sending the same delivery while this one still waits for its answer.
 */
export const MIN_LEASE_LEFT_MS = (TIMES_S.response + TIMES_S.record) * 1_000;

/** After this many losses in a row one failure of the schedule is booked. */
export const LOST_IN_ROW_BOOKS_FAILURE = 5;

/** A sentence where the database's lease is too short for this release's attempts, or too long for its retries; else null. */
export async function readLeaseFault(sql: Tx): Promise<string | null> {
  const [{ lease }] = await sql<[{ lease: number }]>`select extract(epoch from lease())::float8 as lease`;
  return timesFault({ ...TIMES_S, lease }) ?? delaysFault(lease);
}
