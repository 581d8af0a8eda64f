/**
 * What operators and partners set of a lane, and how much of it is in flight.
 * Invariant: once a change has committed, no claim under the old state commits: it waits for a claim that holds the lane, and marks the
 * lane `changed`: a claim takes nothing of it until its keeper has read it again. What that claim took ends by itself.
 */
import type { Tx } from '../../../db/pool.ts';
import { LEASE_S } from '../lease.ts';

/** An operator stops sending to a webhook; failed and new deliveries wait. False when nothing changed; so below. */
export async function muteLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes set changed = keeper is not null, muted_at = clock_timestamp()
    where webhook_id = ${webhookId} and muted_at is null`;
  return count === 1;
}

export async function wakeLane(tx: Tx, webhookId: string): Promise<boolean> {
  const { count } = await tx`
    update lanes set changed = keeper is not null, muted_at = null
    where webhook_id = ${webhookId} and muted_at is not null`;
  return count === 1;
}

/** Its deliveries when they are due, or one at a time per loan, by version. */
export async function setInOrder(tx: Tx, webhookId: string, inOrder: boolean): Promise<boolean> {
  const { count } = await tx`
    update lanes set changed = keeper is not null, in_order = ${inOrder}
    where webhook_id = ${webhookId} and in_order <> ${inOrder}`;
  return count === 1;
}

/**
 * Sets how many deliveries of a webhook may be in flight at once over all pollers, 1 to MAX_CAP (contract/resources/operator.ts): the
 * ceiling of its lane's window. Returns the cap before; null when the webhook does not exist.
 */
export async function setCap(tx: Tx, webhookId: string, maxInFlight: number): Promise<number | null> {
  const [row] = await tx<{ before: number }[]>`
    update lanes set changed = keeper is not null, max_in_flight = ${maxInFlight}
    where webhook_id = ${webhookId}
    returning old.max_in_flight as before`;
  return row?.before ?? null;
}

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
