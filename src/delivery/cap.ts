/** How many deliveries of one webhook may be in flight at once, over all pollers; only the operator sets it. */
import type { Tx } from '../db/pool.ts';

export const MAX_CAP = 1_000;

/**
 * Sets the cap of a webhook, 1 to 1,000, and wakes its lane, which may have been saturated under the old one. What is in
 * flight above a lowered cap ends by itself. False when there is no such webhook.
 */
export async function setCap(tx: Tx, webhookId: string, maxInFlight: number): Promise<boolean> {
  const rows = await tx`
    insert into lanes (webhook_id, max_in_flight, next_due_at)
    select id, ${maxInFlight}, now() from webhooks where id = ${webhookId}
    on conflict (webhook_id) do update
      set max_in_flight = excluded.max_in_flight, saturated = false, next_due_at = now()
    returning webhook_id`;
  return rows.length === 1;
}
