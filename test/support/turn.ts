import type { Pool } from '../../src/db/pool.ts';
import { armLanes } from '../../src/delivery/arrivals.ts';
import { type ClaimedDelivery, claimDue } from '../../src/delivery/claim.ts';
import { endLostClaims } from '../../src/delivery/lost.ts';
import { suspendUnclaimed } from '../../src/delivery/suspend.ts';

/**
 * What a poller does in a turn, and in the next one when the first found lost claims: arms, claims, suspends what is of
 * inactive registrations, ends what was lost. Returns what it claimed, of which nothing is sent.
 */
export async function takeTurn(pool: Pool, claim: string, limit: number, now: Date): Promise<ClaimedDelivery[]> {
  await pool.run((sql) => armLanes(sql, now));
  const { deliveries, inactive, lost } = await pool.transaction((tx) => claimDue(tx, claim, limit, now));
  await pool.transaction((tx) => suspendUnclaimed(tx, inactive, now));
  const ended = await pool.transaction((tx) => endLostClaims(tx, lost, now));
  const left = limit - deliveries.length;
  return ended === 0 || left === 0 ? deliveries : [...deliveries, ...(await takeTurn(pool, claim, left, now))];
}
