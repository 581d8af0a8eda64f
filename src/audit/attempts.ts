/**
 * Attempts as auditors search them, over all partners, in the order in which they were recorded.
 *
 * A page costs a bounded amount of work, whatever the filters. A delivery or a loan names few rows. Every other search walks an
 * index in time order, at most {@link SCANNED} rows a page, and keeps the rows that fit. So a page of a rare value may hold
 * fewer rows than asked for, or none, and still name where to continue. Measured at 10 million attempts: see
 * test/audit/attempts-plans.db.test.ts. Alternative: an index for each pair of filters, which every delivery would pay for.
 */
import { ERASED } from '../contract/erasure.ts';
import type { Outcome } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';

/** Rows that one page reads at most, where no index answers the filters by itself. */
const SCANNED = 500;

/** A cursor: the last attempt of the page before. */
export interface AttemptCursor {
  readonly recordedAt: Date;
  readonly deliveryId: string;
  readonly number: number;
  readonly late: boolean;
}

export interface AttemptFilters {
  readonly partnerId: string | null;
  readonly loanId: string | null;
  readonly event: string | null;
  readonly deliveryId: string | null;
  readonly webhookId: string | null;
  readonly outcome: Outcome | null;
  /** Recorded at or after. */
  readonly from: Date | null;
  /** Recorded before. */
  readonly until: Date | null;
}

export interface AttemptPage extends AttemptFilters {
  readonly after: AttemptCursor | null;
  readonly limit: number;
  readonly order: 'newest first' | 'oldest first';
  /** Only rows of transactions below this one, which have all ended; null: every visible row. */
  readonly settledBelow: SettledBelow | null;
}

/** A transaction within its epoch; its number is a whole number as text. */
export interface SettledBelow {
  readonly epoch: number;
  readonly tx: string;
}

export interface AuditedAttempt extends AttemptCursor {
  readonly partnerId: string;
  readonly webhookId: string;
  readonly eventId: string | null;
  readonly event: string | null;
  /** Null where the event is not of a loan. */
  readonly loanId: string | null;
  readonly startedAt: Date;
  readonly durationMs: number | null;
  readonly outcome: Outcome;
  readonly statusCode: number | null;
  readonly url: string;
  readonly address: string | null;
  readonly keyId: string | null;
  readonly poller: string;
  readonly claim: string;
  readonly error: string | null;
  readonly answer: Buffer | null;
}

export interface FoundAttempts {
  readonly attempts: readonly AuditedAttempt[];
  /** Where the next page begins; null after the last one. */
  readonly next: AttemptCursor | null;
}

/** One page of the attempts that fit the filters. */
export async function readAttempts(pool: Pool, page: AttemptPage): Promise<FoundAttempts> {
  const { limit } = page;
  const isFiltered = page.webhookId !== null || page.event !== null || page.outcome !== null;
  const isFew = page.deliveryId !== null || page.loanId !== null;
  const budget = isFiltered && !isFew ? Math.max(SCANNED, limit + 1) : limit + 1;
  const rows = await pool.run((sql) => search(sql, page, isFew && isFiltered ? null : budget));
  const attempts = rows.filter((row) => row.deliveryId !== null).slice(0, limit) as AuditedAttempt[];
  const [first] = rows;
  const hasMore = rows.length > limit;
  const isCut = !isFew && isFiltered && first !== undefined && first.scanned === budget;
  const last = hasMore ? attempts.at(-1) : isCut ? first?.lastScanned : undefined;
  return { attempts, next: last === undefined ? null : cursorOf(last) };
}

interface Row extends Omit<AuditedAttempt, 'deliveryId'> {
  /** Null in the single row that stands for no match. */
  readonly deliveryId: string | null;
  readonly scanned: number;
  readonly lastScanned: { recordedAt: string; deliveryId: string; number: number; late: boolean } | undefined;
}

function cursorOf(last: AttemptCursor | NonNullable<Row['lastScanned']>): AttemptCursor {
  const { recordedAt, deliveryId, number, late } = last;
  return { recordedAt: new Date(recordedAt), deliveryId, number, late };
}

/** One row for each match, or a single row without a match; each row says how far the search went. */
function search(sql: Tx, page: AttemptPage, budget: number | null) {
  const { limit, event, order } = page;
  const direction = order === 'newest first' ? sql`desc` : sql`asc`;
  const walk = walkOf(sql, page);
  const inOrder = (alias: string) =>
    sql`${sql(alias)}.recorded_at ${direction}, ${sql(alias)}.delivery_id ${direction},
        ${sql(alias)}.number ${direction}, ${sql(alias)}.late ${direction}`;
  return sql<Row[]>`
    with scanned as materialized (
      select a.*
      from attempts a
      where ${candidates(sql, page)}
      order by ${walk === null ? sql`` : sql`${walk.column} ${direction},`} ${inOrder('a')}
      limit ${budget}
    ),
    matched as materialized (
      select s.*, d.delivered_event, m.type as event, m.loan_version
      from scanned s
      -- The limits keep the planner from hashing a whole table for a page's few rows.
      left join lateral (select event_id as delivered_event from deliveries where id = s.delivery_id limit 1) d on true
      left join lateral (select type, loan_version from messages where event_id = d.delivered_event limit 1) m on true
      where ${fits(sql, page)} ${event === null ? sql`` : sql`and m.type = ${event}`}
      order by ${inOrder('s')}
      limit ${limit + 1}
    )
    select state.scanned, state.last as "lastScanned",
           m.delivery_id as "deliveryId", m.number, m.late, m.recorded_at as "recordedAt", m.partner_id as "partnerId",
           m.webhook_id as "webhookId", m.delivered_event as "eventId", m.event,
           case when m.loan_version is not null then (select e.stream from events e where e.id = m.delivered_event) end as "loanId",
           m.started_at as "startedAt", m.duration_ms as "durationMs", m.outcome, m.status_code as "statusCode",
           m.url, m.address, m.key_id as "keyId", m.poller, m.claim, m.error,
           coalesce(m.answer, case when m.commitment is not null then ${ERASED}::bytea end) as answer
    from (
      select count(*)::int as scanned,
             (select json_build_object('recordedAt', l.recorded_at, 'deliveryId', l.delivery_id,
                                       'number', l.number, 'late', l.late)
              from scanned l
              order by ${order === 'newest first' ? sql`l.recorded_at, l.delivery_id, l.number, l.late` : inOrderReversed(sql)}
              limit 1) as last
      from scanned
    ) state
    left join matched m on true
    order by ${inOrder('m')}`;
}

function inOrderReversed(sql: Tx) {
  return sql`l.recorded_at desc, l.delivery_id desc, l.number desc, l.late desc`;
}

/** The column whose index is walked, in time order, for one value. Null: the index of time alone, or no walk for few rows. */
function walkOf(sql: Tx, { partnerId, loanId, deliveryId, webhookId, outcome }: AttemptPage) {
  if (deliveryId !== null || loanId !== null) return null;
  if (webhookId !== null) {
    return {
      column: sql`a.partner_id`,
      value: sql`(select w.partner_id from webhooks w where w.id = ${webhookId})`,
      where: sql``,
    };
  }
  if (partnerId !== null) return { column: sql`a.partner_id`, value: sql`(select ${partnerId}::uuid)`, where: sql`` };
  if (outcome === null || outcome === 'entregue') return null;
  return { column: sql`a.outcome`, value: sql`(select ${outcome}::text)`, where: sql`and a.outcome <> 'entregue'` };
}

/**
 * The rows to walk: those of the narrowest filter, within the period, behind the cursor.
 *
 * Each end of the walk is bounded by one row comparison of the walked column and the time. We tried an equality and a bound of
 * time: the planner took the index of time alone, and for a partner with few attempts it filtered millions, 5 s. The value is a
 * subquery, so that no estimate depends on it. We tried a plain value: the planner estimated a partner that has half of all
 * attempts at one row, and sorted them.
 */
function candidates(sql: Tx, page: AttemptPage) {
  const { loanId, deliveryId, from, until, after, order, settledBelow } = page;
  const walk = walkOf(sql, page);
  const column = walk === null ? sql`` : sql`${walk.column},`;
  const value = walk === null ? sql`` : sql`${walk.value},`;
  const isDown = order === 'newest first';
  // A cursor lies within the period, so it replaces the bound at its end.
  const [isPlaceBelow, isPlaceAbove] = [after !== null && !isDown, after !== null && isDown];
  return sql`true
    ${deliveryId === null ? sql`` : sql`and a.delivery_id = ${deliveryId}`}
    ${loanId === null ? sql`` : sql`and a.delivery_id = any (array(${deliveriesOf(sql, loanId)}))`}
    ${walk?.where ?? sql``}
    ${isPlaceBelow ? sql`` : sql`and (${column} a.recorded_at) >= (${value} coalesce(${from}::timestamptz, '-infinity'))`}
    ${isPlaceAbove ? sql`` : sql`and (${column} a.recorded_at) < (${value} coalesce(${until}::timestamptz, 'infinity'))`}
    ${
      after === null
        ? sql``
        : sql`and (${column} a.recorded_at, a.delivery_id, a.number, a.late) ${isDown ? sql`<` : sql`>`}
          (${value} ${after.recordedAt}::timestamptz, ${after.deliveryId}::uuid, ${after.number}::int, ${after.late}::boolean)`
    }
    ${settledBelow === null ? sql`` : sql`and (a.epoch, a.tx) < (${settledBelow.epoch}::smallint, ${settledBelow.tx}::xid8)`}`;
}

/** A loan's deliveries, found from its stream and its partner's webhooks, active or not; both are few. */
function deliveriesOf(sql: Tx, loanId: string) {
  return sql`
    select d.id
    from events e
    join webhooks w on w.partner_id = e.partner_id
    join deliveries d on d.webhook_id = w.id and d.event_id = e.id
    where e.stream = ${loanId}`;
}

function fits(sql: Tx, { partnerId, webhookId, outcome }: AttemptFilters) {
  return sql`true
    ${partnerId === null ? sql`` : sql`and s.partner_id = ${partnerId}`}
    ${webhookId === null ? sql`` : sql`and s.webhook_id = ${webhookId}`}
    ${outcome === null ? sql`` : sql`and s.outcome = ${outcome}`}`;
}
