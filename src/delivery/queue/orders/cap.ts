/**
 * How many deliveries of one webhook may be in flight at once, over all pollers: the ceiling of its lane's window, which only
 * the operator sets.
 */
import type { Tx } from '../../../db/pool.ts';

/**
 * Sets the cap of a webhook, 1 to MAX_CAP (contract/resources/operator.ts); its keeper reads the lane again. What is in
 * flight above a lowered cap ends by itself, and a muted lane stays asleep. Returns the cap before; null when there is no
 * such webhook.
 */
export async function setCap(tx: Tx, webhookId: string, maxInFlight: number): Promise<number | null> {
  const [row] = await tx<{ before: number }[]>`
    update lanes
    set changed = keeper is not null, max_in_flight = ${maxInFlight}
    where webhook_id = ${webhookId}
    returning old.max_in_flight as before`;
  return row?.before ?? null;
}
