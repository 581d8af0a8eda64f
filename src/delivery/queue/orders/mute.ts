/**
 * Muting: an operator stops sending to a webhook; no delivery is lost.
 * Invariant: after the muting has committed no claim on the webhook commits: it changes the lane, and a claim takes nothing of a changed
 * lane until its keeper has read it again. Muting waits for a claim that holds the lane; the deliveries of that claim end by themselves.
 * Failed and new ones wait.
 */
import type { Tx } from '../../../db/pool.ts';

export async function muteLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set changed = keeper is not null, muted_at = clock_timestamp()
    where webhook_id = ${webhookId} and muted_at is null`;
  return count === 1;
}

export async function wakeLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes
    set changed = keeper is not null, muted_at = null
    where webhook_id = ${webhookId} and muted_at is not null`;
  return count === 1;
}
