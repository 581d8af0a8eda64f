/**
 * The lease: after it any poller ends a claim it finds, so a crash needs no notice. The database counts it (lease.sql)
 * and gives each claim its length, so pollers of two releases agree during a rolling replacement.
 */
import { TIMES_S, timesFault } from '../../contract/delivery.ts';
import { delaysFault } from '../../contract/schedule.ts';
import type { Tx } from '../../db/pool.ts';

/** The lease of this release's functions. */
export const LEASE_S = TIMES_S.lease;

/**
 * A send starts only with more of its lease left than an attempt's deadline plus the time to record it. With less, another poller could
 * send the same delivery while this one waits for the answer.
 */
export const MIN_LEASE_LEFT_MS = (TIMES_S.response + TIMES_S.record) * 1_000;

export const LOST_IN_ROW_BOOKS_FAILURE = 5;

/** A sentence where the database's lease is too short for this release's attempts or too long for its retries; else null. */
export async function readLeaseFault(sql: Tx): Promise<string | null> {
  const [{ lease }] = await sql<[{ lease: number }]>`select extract(epoch from lease())::float8 as lease`;
  return timesFault({ ...TIMES_S, lease }) ?? delaysFault(lease);
}
