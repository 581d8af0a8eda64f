/** Deliveries in flight: claimed, with the lease running. */
import type { Tx } from '../../../db/pool.ts';
import { LEASE_S } from '../lease.ts';

/**
 * How many deliveries of these webhooks are in flight. Once it is 0 after nothing can be claimed any more, not one POST
 * follows: a POST starts only with most of its lease left. It reads where a lane may have something claimed, and not what waits
 * behind that.
 */
export async function countInFlight(sql: Tx, webhookIds: readonly string[]): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select coalesce(sum(claimed.flying), 0)::int as count
    from unnest(${webhookIds as string[]}::uuid[]) as w (id)
    cross join lateral (
      select scan_from, flying_to from lanes where webhook_id = w.id order by version desc limit 1
    ) l
    cross join lateral (
      select count(*) as flying
      from deliveries d
      where d.webhook_id = w.id and d.status = 'pendente' and d.claimed_at > clock_timestamp() - lease()
        and d.next_attempt_at between l.scan_from and l.flying_to
    ) claimed`;
  return row.count;
}

/** After this long no claim that was made before is in flight. */
export const FLIGHT_MS = LEASE_S * 1_000;
