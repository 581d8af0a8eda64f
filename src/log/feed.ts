/**
 * The partner's feed: all its events, in the order of (epoch, transaction, position).
 *
 * Invariant: a reader that continues after its last item misses nothing. Neither positions nor transaction ids commit in order,
 * so the feed ends before `pg_snapshot_xmin`: all earlier transactions have ended. So have those of an earlier epoch, unless
 * they are prepared. If a cursor's event is missing, the database went back in time: {@link whereToGoOn} gives the cursor to
 * continue with, because the lost one would skip later events. The price: an open transaction anywhere on the server delays the
 * newest events, and a rare name costs short pages, because each statement reads a bounded number of rows. Imported events are
 * read on request, from another order of the same index (drizzle/tables/log.ts); a cursor covers both.
 */
import { TEST_NAME } from '../contract/delivery.ts';
import type { DELIVERY_STATUSES } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';

const MAX_SCANNED_PER_PAGE = 5_000;
const MAX_SCANS = 10;

/** After this event. Whole numbers as text. */
export interface FeedCursor {
  readonly epoch: string;
  readonly tx: string;
  readonly position: string;
}

export interface FedEvent {
  readonly id: string;
  readonly loanId: string | null;
  readonly loanVersion: number | null;
  readonly imported: boolean;
  /** The envelope's exact bytes. */
  readonly body: Buffer;
  /** Its data were erased; `body` is the rest, and is never shown. */
  readonly isErased: boolean;
  readonly deliveries: readonly {
    readonly id: string;
    readonly webhook_id: string;
    readonly status: (typeof DELIVERY_STATUSES)[number];
  }[];
}

type FeedEvent = FedEvent & FeedCursor;

export interface FeedQuery {
  readonly partnerId: string;
  readonly event: string | null;
  readonly after: FeedCursor | null;
  readonly limit: number;
  /** Includes imported events, ordered by when they came in. */
  readonly history: boolean;
}

export interface Feed {
  readonly events: readonly FeedEvent[];
  /** The cursor to continue with; null only while the feed is empty. */
  readonly next: FeedCursor | null;
  /** False when the page reached the end of what is certain. */
  readonly hasMore: boolean;
}

export const FEED_START: FeedCursor = { epoch: '0', tx: '0', position: '0' };

interface Looked {
  readonly lastEpoch: string;
  readonly lastTx: string;
  readonly lastPosition: string;
  readonly isFull: boolean;
}

export async function readFeed(pool: Pool, query: FeedQuery): Promise<Feed> {
  let page = await look(pool, query);
  for (let looks = 1; page.events.length === 0 && page.hasMore && looks < MAX_SCANS; looks += 1) {
    page = await look(pool, { ...query, after: page.next });
  }
  return page;
}

/** Null when no event of that id was emitted for the partner; the feed has no tests and no internal facts. */
export async function readFeedEvent(pool: Pool, partnerId: string, id: string): Promise<FedEvent | null> {
  const [row] = await pool.run(
    (sql) => sql<FedEvent[]>`
      select m.event_id as id, m.body, e.imported, m.salt is null as "isErased", m.loan_version as "loanVersion",
             case when m.loan_version is not null then e.stream end as "loanId",
             (select coalesce(json_agg(json_build_object('id', d.id, 'webhook_id', d.webhook_id, 'status', d.status)
                                       order by d.id), '[]')
              from deliveries d
              where d.webhook_id = any (array(select w.id from webhooks w where w.partner_id = ${partnerId}))
                and d.partner_id = ${partnerId} and d.event_id = e.id) as deliveries
      from events e
      join messages m on m.event_id = e.id
      where e.id = ${id} and e.partner_id = ${partnerId} and e.type <> ${TEST_NAME}`,
  );
  return row ?? null;
}

/** For a cursor missing from the log: the last existing one before it. Null: continue from `cursor`. */
export async function whereToGoOn(pool: Pool, partnerId: string, cursor: FeedCursor): Promise<FeedCursor | null> {
  const { epoch, tx, position } = cursor;
  const [known = FEED_START] = await pool.run(
    (sql) => sql<FeedCursor[]>`
      select epoch::text, tx::text, position::text
      from ${ordersOf(sql, true)}
      cross join lateral (
        select epoch, tx, position
        from events e
        where e.partner_id = ${partnerId} and e.imported = orders.imported
          and (e.epoch, e.tx, e.position) <= (${epoch}::text::smallint, ${tx}::text::xid8, ${position}::text::bigint)
        order by e.epoch desc, e.tx desc
        fetch first row with ties
      ) e
      order by e.epoch desc, e.tx desc, e.position desc
      limit 1`,
  );
  if (known.epoch === epoch && known.tx === tx && known.position === position) return null;
  // Its event may have left with its month.
  const [{ isOld }] = await pool.run(
    (sql) => sql<[{ isOld: boolean }]>`
      select exists (select from loans where away_digest is not null) and exists (
        select from archive_acts join seals s on s.number = last_seal
        where (s.end_epoch, s.end_tx) > (${epoch}::text::smallint, ${tx}::text::numeric)) as "isOld"`,
  );
  return isOld ? null : known;
}

async function look(pool: Pool, query: FeedQuery): Promise<Feed> {
  const rows = await readRows(pool, query);
  const [looked] = rows;
  if (looked === undefined) return { events: [], next: query.after, hasMore: false };
  const found = rows.filter((row): row is Looked & FeedEvent => row.id !== null);
  const events = found.slice(0, query.limit);
  const last = events.at(-1);
  const end = { epoch: looked.lastEpoch, tx: looked.lastTx, position: looked.lastPosition };
  const next = found.length > events.length && last !== undefined ? last : end;
  return { events, next, hasMore: found.length > events.length || looked.isFull };
}

/** The page and one more row, each with the place where the read ended; one row without an event when none matches. */
async function readRows(
  pool: Pool,
  { partnerId, event, after, limit, history }: FeedQuery,
): Promise<(Looked & (FeedEvent | { readonly id: null }))[]> {
  const from = after ?? FEED_START;
  const looked = event === null ? 4 * (limit + 1) : MAX_SCANNED_PER_PAGE;
  return pool.run(
    (sql) => sql<(Looked & (FeedEvent | { readonly id: null }))[]>`
      with scan as materialized (
        select e.*
        from ${ordersOf(sql, history)}
        cross join lateral (
          select e.id, e.stream, e.type, e.epoch, e.tx, e.position, e.imported
          from events e
          where e.partner_id = ${partnerId} and e.imported = orders.imported
            and (e.epoch, e.tx) < (current_epoch(), pg_snapshot_xmin(pg_current_snapshot()))
            and (e.epoch < (select own_from from installation) or e.tx < pg_snapshot_xmin(pg_current_snapshot()))
            and (e.epoch, e.tx, e.position)
              > (${from.epoch}::text::smallint, ${from.tx}::text::xid8, ${from.position}::text::bigint)
          order by e.epoch, e.tx
          fetch first ${looked} rows with ties
        ) e
        order by e.epoch, e.tx, e.position
        limit ${looked}
      ),
      last as (
        select epoch::text as "lastEpoch", tx::text as "lastTx", position::text as "lastPosition",
               (select count(*) from scan) = ${looked} as "isFull"
        from scan order by scan.epoch desc, scan.tx desc, scan.position desc limit 1
      ),
      page as materialized (
        select scan.id, scan.epoch, scan.tx, scan.position, scan.imported, m.body, m.salt is null as is_erased, m.loan_version,
               case when m.loan_version is not null then scan.stream end as loan_id
        from scan
        join messages m on m.event_id = scan.id
        where scan.type <> ${TEST_NAME} and (${event}::text is null or scan.type = ${event})
        order by scan.epoch, scan.tx, scan.position
        limit ${limit + 1}
      ),
      ${sentOf(sql, partnerId, 'page')}
      select last.*, page.id, page.epoch::text as epoch, page.tx::text as tx, page.position::text as position, page.body,
             page.imported, page.is_erased as "isErased",
             page.loan_version as "loanVersion", page.loan_id as "loanId", coalesce(sent.list, '[]') as deliveries
      from last
      left join page on true
      left join sent on sent.event_id = page.id
      order by page.epoch, page.tx, page.position`,
  );
}

/** `sent`: the deliveries to the partner of each event of the table `events`. Materialized, or it is made again for each event. */
export function sentOf(sql: Tx, partnerId: string, events: string) {
  return sql`
      sent as materialized (
        select d.event_id,
               json_agg(json_build_object('id', d.id, 'webhook_id', d.webhook_id, 'status', d.status) order by d.id) as list
        from deliveries d
        where d.webhook_id = any (array(select id from webhooks where partner_id = ${partnerId}))
          and d.partner_id = ${partnerId} and d.event_id = any (array(select id from ${sql(events)}))
        group by d.event_id
      )`;
}

/** The orders of the log that a feed's reader walks, as rows of `orders`. */
export function ordersOf(sql: Tx, history: boolean) {
  return history ? sql`(values (false), (true)) orders (imported)` : sql`(values (false)) orders (imported)`;
}
