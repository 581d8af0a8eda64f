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

/** How long the lane that waits longest has been due, in seconds; 0 when none is. */
export async function readOldestDueS(sql: Tx): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    select coalesce(greatest(extract(epoch from now() - min(next_due_at)), 0), 0)::float8 as seconds from lanes`;
  return row.seconds;
}
