/**
 * Lost attempts: a claim whose poller never reported.
 *
 * Invariant: every POST that may have left has an attempt row. Whoever ends another's claim (another poller, a late success, a
 * suspension, a resend) writes the row `desconhecido` for it in that same transaction, on deliveries that it has locked
 * (drizzle/functions/log_lost_attempts.sql). If the lost poller reports after all, its report becomes a second row, marked late.
 */
import type { Tx } from '../../db/pool.ts';

/** The most claims that one transaction ends; the rest is found again. */
const BATCH = 1_000;

/** Ends the flights of these locked deliveries: writes the `desconhecido` row of each that has one. */
export async function logLostAttempts(tx: Tx, deliveryIds: readonly string[]): Promise<void> {
  await tx`select log_lost_attempts(${deliveryIds as string[]}::uuid[])`;
}

/**
 * Ends the flights whose leases are over, a batch at most; their pollers are frozen, or have dropped a report. The deliveries are due at
 * once (drizzle/functions/end_lost.sql). Returns how many it ended.
 */
export async function endOverdue(tx: Tx, now: Date | null = null): Promise<number> {
  const [row] = await tx<[{ ended: number }]>`
    select end_lost(array(
      select delivery_id from flights() where claimed_at <= coalesce(${now}::timestamptz, now()) - lease() limit ${BATCH}
    ), ${now}::timestamptz) as ended`;
  return row.ended;
}

/**
 * Puts back to the clock what lies ahead of it: claims and signs of keepers from before the clock was set back. So a claim is held for a
 * lease from then on, and not for as long as the clock was ahead as well.
 */
export async function heedClock(tx: Tx, now: Date | null = null): Promise<void> {
  await tx`update claims set at = coalesce(${now}::timestamptz, clock_timestamp()) where at > coalesce(${now}::timestamptz, clock_timestamp())`;
  await tx`update keepers set seen_at = clock_timestamp() where seen_at > clock_timestamp()`;
}

/**
 * Ends every claim there is, whatever its time: of a database that was copied, whose pollers stayed behind with the other
 * server, and whose clock may have been ahead. Returns how many it ended.
 */
export async function endClaimsOfThePast(tx: Tx): Promise<number> {
  const [row] = await tx<[{ ended: number }]>`
    with held as materialized (
      select id from deliveries where id in (select delivery_id from flights()) order by id for update
    )
    select end_lost(array(select id from held)) as ended`;
  await tx`update lanes set keeper = null, changed = false where keeper is not null`;
  await tx`delete from claims`;
  await tx`delete from keepers`;
  return row.ended;
}
