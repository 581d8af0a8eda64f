import type { Tx } from '../../db/pool.ts';

/** Lanes looked at, at most. */
const LANES = 10_000;

/**
 * For how many seconds the oldest due work has waited for a poller; 0 when none waits. Muted and full lanes do not count: a full lane waits
 * for a slot, not for a poller.
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
