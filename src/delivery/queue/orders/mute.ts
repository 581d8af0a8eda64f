/**
 * Muting: an operator stops sending to a webhook, and no delivery is lost.
 *
 * Invariant: once the muting has committed, no claim on the webhook commits, and none looks at its lane: a muted lane is
 * never due, which a CHECK holds, and arrivals pass it over (`arm_lanes`). The muting waits for a claim that holds the lane.
 * The deliveries of such a claim end by themselves; those that fail wait, as do those that are appended meanwhile.
 * A claim pays nothing for it: it finds lanes by when they are due. Asking each lane whether it is muted, or taking muted
 * deliveries out of `pendente`, would cost every claim and every record.
 * When it is unmuted, the lane looks at all due deliveries from the very first on, so it misses none.
 */
import type { Tx } from '../../../db/pool.ts';

/** Puts a lane to sleep until it is woken by {@link wakeLane}. False when it is muted already. */
export async function muteLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set version = version + 1, muted_at = clock_timestamp(), next_due_at = null, saturated = false
    where webhook_id = ${webhookId} and muted_at is null`;
  return count === 1;
}

/** Wakes a muted lane. False when it is not muted. */
export async function wakeLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set version = version + 1, muted_at = null, next_due_at = clock_timestamp(), scan_from = '-infinity'
    where webhook_id = ${webhookId} and muted_at is not null`;
  return count === 1;
}
