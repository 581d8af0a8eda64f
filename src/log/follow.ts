/**
 * Following the log in its order, for readers that keep their own cursor: the projector, and the index of workers.
 * Invariant: a reader that continues after its cursor misses nothing. Cursors are ordered by (epoch, transaction, position), and
 * `readSettled` shows nothing of a transaction that may still be open (see feed.ts). The projector skips tests and notices, which are no
 * facts. Each partner's events are found by the index of its feed; an index over all partners would cost every append an entry.
 */
import { NOT_FACTS } from '../contract/delivery.ts';
import type { EventType } from '../contract/events.ts';
import type { Tx } from '../db/pool.ts';
import type { FeedCursor } from './feed.ts';

export interface PlacedEvent extends FeedCursor {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly type: EventType;
  readonly partnerId: string;
}

/** The position of the reader of that name. */
export async function readProgress(tx: Tx, name: string): Promise<FeedCursor> {
  const [cursor] = await tx<FeedCursor[]>`
    select epoch::text as epoch, tx::text as tx, position::text as position from projections where name = ${name}`;
  if (cursor === undefined) throw new Error(`projections has no row ${name}: run the command 'migrate'`);
  return cursor;
}

export async function moveTo(tx: Tx, name: string, { epoch, tx: id, position }: FeedCursor): Promise<void> {
  await tx`
    update projections
    set epoch = ${epoch}::text::smallint, tx = ${id}::text::xid8, position = ${position}::text::bigint
    where name = ${name}`;
}

/** The log's orders with something after the cursor: its own, and that of imported events (drizzle/tables/log.ts). */
function ordersAfter(tx: Tx, { epoch, tx: id }: FeedCursor) {
  return tx`(
    select false as imported
    union all
    select true
    where exists (select from history_batches where (epoch, tx) >= (${epoch}::text::smallint, ${id}::text::xid8))
  ) orders`;
}

/** The next events of finished transactions, at most `limit`, of all partners in the log's order; without the types `but`. */
export async function readSettled(
  tx: Tx,
  after: FeedCursor,
  limit: number,
  but: readonly string[] = NOT_FACTS,
): Promise<PlacedEvent[]> {
  return tx<PlacedEvent[]>`
    select e.epoch::text as epoch, e.tx::text as tx, e.position::text as position, e.id, e.stream, e.version, e.type, e.partner_id as "partnerId"
    from partners p
    cross join ${ordersAfter(tx, after)}
    cross join lateral (
      select epoch, tx, position, id, stream, version, type, partner_id
      from events
      where partner_id = p.id and imported = orders.imported and type <> all (${but as string[]})
        and (epoch, tx) < (current_epoch(), pg_snapshot_xmin(pg_current_snapshot()))
        and (epoch < (select own_from from installation) or tx < pg_snapshot_xmin(pg_current_snapshot()))
        and (epoch, tx, position)
          > (${after.epoch}::text::smallint, ${after.tx}::text::xid8, ${after.position}::text::bigint)
      order by epoch, tx
      fetch first ${limit} rows with ties
    ) e
    order by e.epoch, e.tx, e.position
    limit ${limit}`;
}

/** All committed events of one partner after the cursor; others may still come among them. */
export async function readCommitted(tx: Tx, after: FeedCursor, partnerId: string): Promise<PlacedEvent[]> {
  return tx<PlacedEvent[]>`
    select epoch::text as epoch, tx::text as tx, position::text as position, id, stream, version, type, partner_id as "partnerId"
    from events
    join ${ordersAfter(tx, after)} using (imported)
    where partner_id = ${partnerId} and type <> all (${NOT_FACTS as string[]})
      and (epoch, tx, position)
        > (${after.epoch}::text::smallint, ${after.tx}::text::xid8, ${after.position}::text::bigint)
    order by epoch, tx, position`;
}

/** For how long the oldest event after the cursor has been in the log, in seconds; 0 when there is none. */
export async function readLagS(tx: Tx, after: FeedCursor): Promise<number> {
  const [{ lag }] = await tx<[{ lag: number }]>`
    select coalesce(greatest(extract(epoch from clock_timestamp() - min(uuid_extract_timestamp(first.id))), 0), 0)::float8 as lag
    from partners p
    cross join ${ordersAfter(tx, after)}
    cross join lateral (
      select id
      from events
      where partner_id = p.id and imported = orders.imported and type <> all (${NOT_FACTS as string[]})
        and (epoch, tx, position)
          > (${after.epoch}::text::smallint, ${after.tx}::text::xid8, ${after.position}::text::bigint)
      order by epoch, tx
      fetch first row with ties
    ) first`;
  return lag;
}
