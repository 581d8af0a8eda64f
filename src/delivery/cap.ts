/** How many deliveries of one webhook may be in flight at once, over all pollers; only the operator sets it. */
import type { Tx } from '../db/pool.ts';

export const MAX_CAP = 1_000;

/**
 * Sets the cap of a webhook, 1 to 1,000, and wakes its lane, which may have been saturated under the old one. What is in
 * flight above a lowered cap ends by itself. False when there is no such webhook.
 */
export async function setCap(tx: Tx, webhookId: string, maxInFlight: number): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set version = version + 1, max_in_flight = ${maxInFlight}, saturated = false, next_due_at = now()
    where webhook_id = ${webhookId}`;
  return count === 1;
}
