/**
 * The order of a webhook's deliveries: each as it is due, or of each loan one at a time, by version
 * (drizzle/functions/hold_back.sql).
 *
 * Invariant: the option is its lane's, and a claim reads it under the lane's lock. So once it is on, no claim takes two of
 * a loan, nor one beside another that was in flight already; and once it is off, no claim has a delivery wait.
 * When it is switched off, the waiting deliveries are made due in batches. Crash between two batches: the marks stay, so each
 * of the others becomes due when the delivery before it ends.
 */
import type { Pool, Tx } from '../../../db/pool.ts';
import { insertArrivals } from '../arrivals.ts';

const BATCH = 1_000;

/** Sets whether the lane keeps the order of loans; waits for a claim that holds it. False when it was so already. */
export async function setInOrder(tx: Tx, webhookId: string, inOrder: boolean): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set version = version + 1, in_order = ${inOrder}
    where webhook_id = ${webhookId} and in_order <> ${inOrder}`;
  return count === 1;
}

/** Makes due what waits in a lane without an order, until nothing is left or `untilMs` has come. */
export async function releaseWaiting(pool: Pool, webhookId: string, untilMs: number): Promise<void> {
  while ((await pool.transaction((tx) => releaseBatch(tx, webhookId))) === BATCH) {
    if (performance.now() >= untilMs) return;
  }
}

async function releaseBatch(tx: Tx, webhookId: string): Promise<number> {
  const { count } = await tx`
    update deliveries d
    set next_attempt_at = now()
    where d.id = any (array(
      select w.id
      from deliveries w
      where w.webhook_id = ${webhookId} and w.status = 'pendente' and w.next_attempt_at = 'infinity'
        and not (select in_order from lanes where webhook_id = ${webhookId} order by version desc limit 1)
      limit ${BATCH}
      for update skip locked
    ))`;
  if (count > 0) await insertArrivals(tx, [webhookId]);
  return count;
}
