/**
 * Lanes: one row per webhook that says when to look at it next, and where.
 *
 * Invariants. A webhook with a pending delivery has a lane whose `next_due_at` is at most the time that delivery is due
 * (or, while deliveries of it are claimed, the earliest end of their leases), or an arrival that will set it so. Every
 * pending delivery is due at or after its lane's `scan_from`, or an arrival says from when on; every claimed one is due
 * at or before `flying_to`.
 * A crash keeps them, because each step is one statement or one transaction: (1) arming deletes an arrival and updates its
 * lane, or re-inserts it; (2) a claim takes deliveries and re-arms the lanes; (3) ending a claim early, or making a delivery
 * due earlier, inserts an arrival. (A lost claim keeps its lane due, unless the lane is saturated.)
 * Why not one queue by due time: with one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were
 * claimed in 25 s; with lanes all were, at 30 ms (p99). Skipping busy endpoints with `<> all (…)` costs 120 ms a claim
 * at a million rows, lanes 5 ms.
 * Why the marks: a delivered row leaves a dead index entry where each scan begins, and a lane leaves one at each time at which
 * it was due (due-mark.ts). While a snapshot is held open, vacuum cannot remove them. A lane has a version instead of a
 * unique key for the same reason. We measured the median claim on 100 lanes in a minute of such a snapshot: 22 → 141 ms with
 * the unique key and without the marks, 22 → 50 ms as it is.
 */
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
