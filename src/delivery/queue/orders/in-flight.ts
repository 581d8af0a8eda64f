import type { Tx } from '../../../db/pool.ts';
import { LEASE_S } from '../lease.ts';

/**
 * How many deliveries of these webhooks are claimed under a running lease. Once nothing can be claimed and this is 0, no POST follows: a
 * POST starts only with most of its lease left.
 */
export async function countInFlight(sql: Tx, webhookIds: readonly string[]): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from flights()
    where webhook_id = any (${webhookIds as string[]}::uuid[]) and claimed_at > clock_timestamp() - lease()`;
  return row.count;
}

/** After this long no earlier claim is in flight. */
export const FLIGHT_MS = LEASE_S * 1_000;
