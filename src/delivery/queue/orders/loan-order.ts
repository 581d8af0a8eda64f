/**
 * The order of a webhook's deliveries: each as it is due, or of each loan one at a time, by version.
 *
 * Invariant: the option is its lane's, and a change of it is a change of the lane: no claim under the old one commits behind it.
 */
import type { Tx } from '../../../db/pool.ts';

/** Sets whether the lane keeps the order of loans; waits for a claim that holds it. False when it was so already. */
export async function setInOrder(tx: Tx, webhookId: string, inOrder: boolean): Promise<boolean> {
  const { count } = await tx`
    update lanes set changed = keeper is not null, in_order = ${inOrder}
    where webhook_id = ${webhookId} and in_order <> ${inOrder}`;
  return count === 1;
}
