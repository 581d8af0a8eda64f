/**
 * Where the feed begins for a reader with an instant and no cursor.
 * Invariant: no event recorded at or after `since` comes before the start, not even one that has yet to commit.
 * An event's UUIDv7 has its time, but the feed has another order (feed.ts). The bound is the snapshot of the newest event of any partner
 * before `since`: all transactions below its xmin were over by then, so later events lie at or above it. From there few of the partner's
 * own events precede the first one in time. Only events with a certain place are read.
 * Alternative: walking the partner's feed from its beginning reads nearly all of it for a recent instant.
 */
import { firstIdAt } from '../db/first-id.ts';
import type { Pool } from '../db/pool.ts';
import { FEED_START, type FeedCursor, ordersOf } from './feed.ts';

/** The cursor before the partner's first event recorded at or after `since`. An imported event was recorded when it came in. */
export async function findStart(pool: Pool, partnerId: string, since: Date, history: boolean): Promise<FeedCursor> {
  const [row] = await pool.run(
    (sql) => sql<FeedCursor[]>`
      with bound as materialized (
        select e.epoch, pg_snapshot_xmin(e.snapshot::pg_snapshot) as tx
        from events e
        where e.id < ${firstIdAt(since)} and e.fan_out is not null
        order by e.id desc
        limit 1
      ),
      horizon as materialized (
        select current_epoch() as epoch, pg_snapshot_xmin(pg_current_snapshot()) as tx,
               (select own_from from installation) as own_from
      ),
      first as materialized (
        select e.epoch, e.tx, e.position
        from horizon, ${ordersOf(sql, history)}
        cross join lateral (
          select e.epoch, e.tx, e.position
          from events e
          where e.partner_id = ${partnerId} and e.imported = orders.imported and e.id >= ${firstIdAt(since)}
            and (e.epoch, e.tx, e.position)
              >= (coalesce((select epoch from bound), 0::smallint), coalesce((select tx from bound), '0'::xid8), 0)
            and (e.epoch, e.tx) < (horizon.epoch, horizon.tx) and (e.epoch < horizon.own_from or e.tx < horizon.tx)
          order by e.epoch, e.tx
          fetch first row with ties
        ) e
        order by e.epoch, e.tx, e.position
        limit 1
      )
      select e.epoch::text, e.tx::text, e.position::text
      from horizon, ${ordersOf(sql, history)}
      cross join lateral (
        select e.epoch, e.tx, e.position
        from events e
        where e.partner_id = ${partnerId} and e.imported = orders.imported and (e.epoch < horizon.own_from or e.tx < horizon.tx)
          -- One bound: of two, the index would begin at the farther one.
          and (e.epoch, e.tx, e.position)
            < (coalesce((select epoch from first), horizon.epoch), coalesce((select tx from first), horizon.tx),
               coalesce((select position from first), 0))
        order by e.epoch desc, e.tx desc
        fetch first row with ties
      ) e
      order by e.epoch desc, e.tx desc, e.position desc
      limit 1`,
  );
  return row ?? FEED_START;
}
