/**
 * Lost attempts: a claim whose poller never reported.
 * Invariant: every POST that may have left has an attempt row. Whoever ends another's claim (poller, late success, suspension, resend)
 * writes its row `desconhecido` in the same transaction, on deliveries that it has locked (log_lost_attempts.sql). A
 * later report of the lost poller becomes a second row, marked late.
 */
import type { Tx } from '../../db/pool.ts';

const BATCH = 1_000;

/** Writes the `desconhecido` row of each of these locked deliveries that is in flight, and ends the flight. */
export async function logLostAttempts(tx: Tx, deliveryIds: readonly string[]): Promise<void> {
  await tx`select log_lost_attempts(${deliveryIds as string[]}::uuid[])`;
}

/**
 * Ends up to a batch of flights whose leases are over: their pollers are frozen or have dropped a report. The deliveries are due at once
 * (end_lost.sql). Returns the number.
 */
export async function rescueOverdue(tx: Tx, now: Date | null = null): Promise<number> {
  const [row] = await tx<[{ ended: number }]>`
    select end_lost(array(
      select delivery_id from flights() where claimed_at <= coalesce(${now}::timestamptz, now()) - lease() limit ${BATCH}
    ), ${now}::timestamptz) as ended`;
  return row.ended;
}

/** Ends the flight of one delivery whose poller will not report; waits for whoever holds it locked. */
export async function endLost(tx: Tx, deliveryId: string): Promise<void> {
  await tx`select from deliveries where id = ${deliveryId} for update`;
  await tx`select end_lost(array[${deliveryId}::uuid])`;
}

/**
 * Sets open claims and keepers' signs that lie in the future to now. After the clock was set back, a claim then lasts one lease from now,
 * not also the time by which the clock was ahead.
 */
export async function heedClock(tx: Tx, now: Date | null = null): Promise<void> {
  await tx`
    with clock as materialized (select coalesce(${now}::timestamptz, clock_timestamp()) as now)
    update claims c set at = ahead.now
    from (select distinct poller, claim, now from clock cross join flights() where claimed_at > now) ahead
    where c.poller = ahead.poller and c.number = ahead.claim`;
  await tx`update keepers set seen_at = clock_timestamp() where seen_at > clock_timestamp()`;
}

/**
 * Ends every claim, whatever its time, in a copied database: its pollers stayed with the other server, whose clock may have been ahead.
 * Returns the number.
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

/**
 * Those of these locked deliveries whose POSTs may be under way. It waits for claims that are about to commit, and no claim takes any of
 * them until the transaction ends: so nothing leaves that it has not named. Unless it `holds`, it only tells what is known now.
 */
export async function readInFlight(tx: Tx, ids: readonly string[], holds = true): Promise<ReadonlySet<string>> {
  if (holds) await tx`select hold_pending(${ids as string[]}::uuid[])`;
  return readFlying(tx, ids, tx`and claimed_at > clock_timestamp() - lease()`);
}

/** Those of these deliveries that a claim names and whose attempts have not ended. */
export async function readFlying(sql: Tx, ids: readonly string[], besides = sql``): Promise<ReadonlySet<string>> {
  const rows = await sql<
    { id: string }[]
  >`select delivery_id as id from flights() where delivery_id = any (${ids as string[]}::uuid[]) ${besides}`;
  return new Set(rows.map(({ id }) => id));
}
