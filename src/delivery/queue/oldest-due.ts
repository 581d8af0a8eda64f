/** How late the work is that waits for a poller, for monitors and the doctor. */
import type { Tx } from '../../db/pool.ts';

/** So many lanes are looked at. */
const LANES = 10_000;

/**
 * For how many seconds the oldest work has waited for a poller; 0 when none waits: what is due, is not in flight, and is of a lane that
 * is neither muted nor as full as it may be. A full lane waits for a slot, not for a poller.
 */
export async function readOldestDueS(sql: Tx): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    with flying as materialized (select webhook_id, delivery_id from flights() where claimed_at > now() - lease())
    select coalesce(greatest(extract(epoch from now() - min(first.next_attempt_at)), 0), 0)::float8 as seconds
    from waiting_lanes(${LANES}) waiting
    join lanes l on l.webhook_id = waiting.webhook_id and l.muted_at is null
    cross join lateral waiting_of(l, now(), array(select delivery_id from flying), 1) first
    where (select count(*) from flying f where f.webhook_id = l.webhook_id) < least(l.max_in_flight, floor(l.window_size))`;
  return row.seconds;
}
