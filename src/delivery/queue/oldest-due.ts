/** How late the work is that waits for a poller, for monitors and the doctor. */
import type { Tx } from '../../db/pool.ts';

/** How many of the oldest arrivals are searched for those without a time; later arrivals wait less. */
const LOOKED_UP = 1_000;

/**
 * For how many seconds the oldest work has waited for a poller; 0 when none waits. Work is a due lane, or an arrival that no
 * poller has armed; without pollers arrivals are all there is. For an arrival without a time, the webhook's oldest due
 * delivery is looked up. A saturated lane does not count: it waits for a slot, not for a poller.
 */
export async function readOldestDueS(sql: Tx): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    with told as materialized (
      select due_at from arrivals where kind = 'due' order by tx limit 1
    ),
    untold as materialized (
      select webhook_id, partner_id
      from (select webhook_id, partner_id, kind from arrivals order by tx limit ${LOOKED_UP}) oldest
      where kind = 'look'
    ),
    found as materialized (
      select min(open.due_at) as due_at
      from (select distinct webhook_id, partner_id from untold) woken
      cross join lateral (
        select saturated, muted_at from lanes l
        where l.webhook_id = woken.webhook_id and l.partner_id = woken.partner_id
        order by version desc limit 1
      ) lane
      cross join lateral (
        select d.next_attempt_at as due_at
        from deliveries d
        where d.webhook_id = woken.webhook_id and d.partner_id = woken.partner_id and d.status = 'pendente'
          and d.claimed_at is null
        order by d.next_attempt_at
        limit 1
      ) open
      where not lane.saturated and lane.muted_at is null
    )
    select coalesce(greatest(extract(epoch from now() - least(
             (select min(next_due_at) from lanes), (select due_at from told), (select due_at from found)
           )), 0), 0)::float8 as seconds`;
  return row.seconds;
}
