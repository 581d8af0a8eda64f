import type { Tx } from '../../../db/pool.ts';

/**
 * Sets how many deliveries of a webhook may be in flight at once over all pollers, 1 to MAX_CAP (contract/resources/operator.ts): the
 * ceiling of its lane's window. Flights above a lowered cap end by themselves; a muted lane stays muted. Returns the cap before; null when
 * the webhook does not exist.
 */
export async function setCap(tx: Tx, webhookId: string, maxInFlight: number): Promise<number | null> {
  const [row] = await tx<{ before: number }[]>`
    update lanes
    set changed = keeper is not null, max_in_flight = ${maxInFlight}
    where webhook_id = ${webhookId}
    returning old.max_in_flight as before`;
  return row?.before ?? null;
}
