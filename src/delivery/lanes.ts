/**
 * Lanes: one row per webhook that says when to look at it next, and where.
 *
 * Invariants. A webhook with a pending delivery has a lane whose `next_due_at` is at most the time that delivery is due
 * (or, while deliveries of it are claimed, the earliest end of their leases), or an arrival that will set it so. Every
 * pending delivery is due at or after its lane's `scan_from`, or an arrival says from when on; every claimed one is due
 * at or before `flying_to`.
 * A crash at any point keeps them: arrivals are deleted in the statement that arms the lane, or puts them back, a claim
 * re-arms the lanes that it locked in the statement that takes from them, and whoever ends a claim within its lease, or
 * makes anything due earlier, leaves an arrival in the same transaction: what that statement did not see yet arms the lane
 * again. (A claim whose lease is over keeps its lane due, seen or ended, unless the lane is saturated.)
 * Why not one queue by due time: with one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were
 * claimed in 25 s; with lanes all were, at 30 ms (p99). Skipping busy endpoints with `<> all (…)` costs 120 ms a claim
 * at a million rows, lanes 5 ms.
 * Why the marks: what was delivered leaves dead index entries where each scan begins, lanes leave them at the times they
 * were due (due-mark.ts), and nothing removes them while a snapshot is held open. For the same reason a lane has a version
 * and no unique key: with the key, and a scan of all times, the median claim on 100 lanes went from 22 to 141 ms in a minute
 * of such a snapshot, and now to 50.
 */
import type { Tx } from '../db/pool.ts';

/** Among so many of the oldest arrivals those are looked up that tell no time; what comes behind them waits less. */
const LOOKED_UP = 1_000;

/**
 * How long what waits longest for a poller has been due, in seconds; 0 when nothing is. A lane that is due waits, and so do
 * arrivals that no poller has made a due lane of: without pollers they are all there is. What an arrival that tells no time
 * has made due is looked up; of a saturated lane that is nothing, because it waits for a place and not for a poller.
 */
export async function readOldestDueS(sql: Tx): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    with told as materialized (
      select due_at from arrivals where due_at > '-infinity' order by tx limit 1
    ),
    untold as materialized (
      select webhook_id
      from (select webhook_id, due_at from arrivals order by tx limit ${LOOKED_UP}) oldest
      where due_at = '-infinity'
    ),
    found as materialized (
      select min(open.due_at) as due_at
      from (select distinct webhook_id from untold) woken
      cross join lateral (
        select saturated from lanes where lanes.webhook_id = woken.webhook_id order by version desc limit 1
      ) lane
      cross join lateral (
        select d.next_attempt_at as due_at
        from deliveries d
        where d.webhook_id = woken.webhook_id and d.status = 'pendente' and d.claimed_at is null
        order by d.next_attempt_at
        limit 1
      ) open
      where not lane.saturated
    )
    select coalesce(greatest(extract(epoch from now() - least(
             (select min(next_due_at) from lanes), (select due_at from told), (select due_at from found)
           )), 0), 0)::float8 as seconds`;
  return row.seconds;
}
