import type { Pool } from '../../src/db/pool.ts';
import { type ClaimedDelivery, takeTurn as turn } from '../../src/delivery/queue/claim.ts';
import { endLostClaims } from '../../src/delivery/queue/lost.ts';
import { suspendUnclaimed } from '../../src/delivery/queue/orders/suspend.ts';

/**
 * One turn of a poller, and a second one when the first found lost claims: it takes what arrived, claims, suspends deliveries of
 * inactive webhooks and ends lost claims. Returns the claimed deliveries; nothing is sent.
 */
export async function takeTurn(pool: Pool, claim: string, limit: number, now: Date): Promise<ClaimedDelivery[]> {
  const { deliveries, inactive, lost } = await pool.transaction((tx) => turn(tx, claim, limit, now));
  await pool.transaction((tx) => suspendUnclaimed(tx, inactive, now));
  const ended = await pool.transaction((tx) => endLostClaims(tx, lost, now));
  const left = limit - deliveries.length;
  return ended === 0 || left === 0 ? deliveries : [...deliveries, ...(await takeTurn(pool, claim, left, now))];
}
