/**
 * Muting: an operator stops sending to a webhook, and no delivery is lost.
 *
 * Invariant: once the muting has committed, no claim on the webhook commits: it changes the lane, and a claim takes nothing of a changed
 * one until its keeper has read it again. It waits for a claim that holds the lane. The deliveries of such a claim end by
 * themselves; those that fail wait, as do those that are appended meanwhile.
 */
import type { Tx } from '../../../db/pool.ts';

/** Puts a lane to sleep until it is woken by {@link wakeLane}. False when it is muted already. */
export async function muteLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set changed = keeper is not null, muted_at = clock_timestamp()
    where webhook_id = ${webhookId} and muted_at is null`;
  return count === 1;
}

/** Wakes a muted lane. False when it is not muted. */
export async function wakeLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set changed = keeper is not null, muted_at = null
    where webhook_id = ${webhookId} and muted_at is not null`;
  return count === 1;
}
