import type { Pool, Tx } from '../../src/db/pool.ts';
import { type ClaimedDelivery, deliveryOf, pollLanes as poll } from '../../src/delivery/queue/claim.ts';
import { enter, readLanes } from '../../src/delivery/queue/keepers.ts';
import type { KeptLane } from '../../src/delivery/queue/lanes/kept-lane.ts';
import { KeptLanes } from '../../src/delivery/queue/lanes/kept-lanes.ts';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { suspendUnclaimed } from '../../src/delivery/queue/orders/suspend.ts';
import { Slots } from '../../src/delivery/queue/slots.ts';

/** Of a poller that is alone: no partner has a share. */
class AllSlots extends Slots {
  override heldBy(): number {
    return Number.NEGATIVE_INFINITY;
  }
}

/** Claims as a poller does that takes every lane that is free, has one turn, and then keeps nothing; its claims stand. */
export async function claimDue(
  tx: Tx,
  claim: string,
  limit: number,
  now: Date | null = null,
): Promise<{ readonly deliveries: ClaimedDelivery[]; readonly inactive: readonly string[] }> {
  const [poller = '', number = '1'] = claim.split('/');
  const lanes = new KeptLanes();
  lanes.seen = await enter(tx, poller, number.includes('.'));
  const settings = await readLanes(tx, poller, 100_000);
  for (const one of settings) lanes.keep(one);
  const nowMs = now?.getTime() ?? Date.now();
  const deliveries: ClaimedDelivery[] = [];
  // A turn that asks one lane for all that there are slots for learns of no other, and each reads some lanes.
  const maxPolls = 32 + lanes.size / 64;
  for (
    let polls = 0;
    polls < maxPolls && deliveries.length < limit && (polls === 0 || lanes.isWaiting(nowMs));
    polls += 1
  ) {
    const ask = lanes.plan(new AllSlots(limit - deliveries.length), nowMs);
    const id = { poller, number: Number(number.split('.').at(-1)), doneBelow: 0 };
    const { rows, claimedAt } = await poll(tx, id, lanes.seen, ask, null, now);
    const due = lanes.apply(ask, rows, nowMs);
    deliveries.push(...due.map((row) => deliveryOf(row, lanes.get(row.webhookId) as KeptLane, claimedAt)));
    if (lanes.isStuck(nowMs)) break;
  }
  await tx`update lanes set keeper = null where keeper = ${poller}`;
  // One that held its lock is found dead by its row.
  if (!number.includes('.')) await tx`update keepers set seen_at = '-infinity' where name = ${poller}`;
  return { deliveries, inactive: settings.filter(({ isActive }) => !isActive).map(({ webhookId }) => webhookId) };
}

/**
 * One turn of a poller: it ends claims whose leases are over, claims, and suspends deliveries of inactive webhooks. Returns the claimed
 * deliveries; nothing is sent.
 */
export async function pollLanes(pool: Pool, claim: string, limit: number, now: Date): Promise<ClaimedDelivery[]> {
  await pool.transaction((tx) => rescueOverdue(tx, now));
  const { deliveries, inactive } = await pool.transaction((tx) => claimDue(tx, claim, limit, now));
  await pool.transaction((tx) => suspendUnclaimed(tx, inactive, now));
  return deliveries;
}
