/**
 * The order of a webhook's deliveries: as they are due, or one at a time per loan, by version.
 * Invariant: a change of this option changes the lane, so no claim under the old option commits after it.
 */
import type { Tx } from '../../../db/pool.ts';

/** Sets whether the lane keeps loans in order; waits for a claim that holds it. False when nothing changed. */
export async function setInOrder(tx: Tx, webhookId: string, inOrder: boolean): Promise<boolean> {
  const { count } = await tx`
    update lanes set changed = keeper is not null, in_order = ${inOrder}
    where webhook_id = ${webhookId} and in_order <> ${inOrder}`;
  return count === 1;
}
