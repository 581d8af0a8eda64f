/**
 * Deliveries as a partner reads them: of one webhook or of all, newest first; and one delivery with its attempts.
 * The list walks the index `deliveries_once`. Event ids are UUIDv7, so its order is that of time, and a period is a range. For several
 * webhooks it merges a part of each, and the page stops at the highest of the parts' ends: below it unread rows may lie. An index by
 * partner would cost every append and every record an entry.
 * A search by an unindexed column reads a bounded number of rows per page and returns where it stopped, so a rare match costs short
 * pages, never a long statement.
 */
import {
  ATTEMPTS_SHOWN,
  type DeliveryResource,
  type DeliveryWithAttempts,
} from '../../contract/resources/delivery-resource.ts';
import type { Outcome } from '../../contract/statuses.ts';
import { firstIdAt, LAST_ID } from '../../db/first-id.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { type ArchivedDelivery, rowsOf } from './delivery-rows.ts';
import { type AttemptPage, type AttemptsWanted, NEWEST, readAttempts } from './read-attempts.ts';

/**
 * Rows a statement reads when only the row itself, its event or its last attempt shows which ones fit. Each bound takes some 15 ms
 * (test/bench/figures/reads.ts).
 */
const MAX_SCANNED_PER_PAGE = { row: 5_000, event: 2_000, attempt: 750 } as const;
/** Rows a statement reads of all webhooks when every row fits: the largest page, of 50 webhooks. */
const MERGED_A_PAGE = 25_050;
const MAX_SCANS = 10;

/** The page begins after this delivery. */
interface DeliveryCursor {
  readonly eventId: string;
  readonly webhookId: string;
}

export interface DeliverySearch {
  readonly partnerId: string;
  readonly webhookIds: readonly string[];
  readonly status: DeliveryResource['status'] | null;
  readonly event: DeliveryResource['evento'] | null;
  readonly loanId: string | null;
  /** Shown as `ultimo_resultado` and `ultimo_status_http`. */
  readonly outcome: Outcome | null;
  readonly statusCode: number | null;
  /** Created at or after. */
  readonly from: Date | null;
  /** Created before. */
  readonly until: Date | null;
  readonly after: DeliveryCursor | null;
  readonly limit: number;
}

interface DeliveryRow {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: DeliveryResource['evento'];
  readonly isTest: boolean;
  readonly loanId: string | null;
  readonly loanVersion: number | null;
  readonly status: DeliveryResource['status'];
  readonly attempts: number;
  readonly outcome: Outcome | null;
  readonly statusCode: number | null;
  readonly nextAttemptAt: Date | null;
  readonly isClaimed: boolean;
  /** Waits for an earlier delivery of its loan. */
  readonly isHeld: boolean;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

function lastAttempt(sql: Tx, attempts = sql`attempts`) {
  return sql`
    left join lateral (
      select outcome, status_code from ${attempts} a
      where delivery_id = d.id and (d.status <> 'entregue' or outcome = 'entregue')
      order by number desc, late desc
      limit 1
    ) last on true`;
}

function columns(sql: Tx) {
  return sql`
    d.id, d.webhook_id as "webhookId", d.event_id as "eventId", m.type as event, d.is_test is true as "isTest",
    case when m.loan_version is not null then m.stream end as "loanId",
    m.loan_version as "loanVersion", d.status, d.attempts, last.outcome, last.status_code as "statusCode",
    case when isfinite(d.next_attempt_at) then greatest(d.next_attempt_at, d.created_at) end as "nextAttemptAt",
    d.id = any (array(select f.delivery_id from flights() f)) as "isClaimed",
    case when d.status = 'pendente' and m.loan_version is not null then exists (
      select from lanes l cross join lateral first_ahead(l.webhook_id, m.stream, m.loan_version, coalesce(l.resumes_until > now(), false))
      where l.webhook_id = d.webhook_id and l.in_order
    ) else false end as "isHeld",
    d.created_at as "createdAt", d.finished_at as "finishedAt"`;
}

export interface DeliveryList {
  readonly deliveries: readonly DeliveryResource[];
  /** Cursor of the next page; null at the end. */
  readonly next: DeliveryCursor | null;
}

export async function readDeliveries(pool: Pool, search: DeliverySearch): Promise<DeliveryList> {
  if (search.webhookIds.length === 0) return { deliveries: [], next: null };
  let page = await look(pool, search);
  // One of several webhooks may have all the rows; each read of it then takes only its part.
  const maxScans = search.webhookIds.length === 1 ? 1 : MAX_SCANS;
  for (let looks = 1; page.deliveries.length === 0 && page.next !== null && looks < maxScans; looks += 1) {
    page = await look(pool, { ...search, after: page.next });
  }
  return page;
}

/** How many rows to read per webhook, and how many of the wanted status to take. */
function depthOf({ webhookIds, status, event, outcome, statusCode, limit }: DeliverySearch) {
  const isIndexed = status === null || status === 'erro' || status === 'suspensa';
  const asks = outcome !== null || statusCode !== null ? 'attempt' : event !== null ? 'event' : 'row';
  const page = Math.min(limit + 1, Math.ceil(MERGED_A_PAGE / webhookIds.length));
  const depth = isIndexed && asks === 'row' ? page : Math.ceil(MAX_SCANNED_PER_PAGE[asks] / webhookIds.length);
  return { depth, most: asks === 'row' ? Math.min(page, depth) : depth };
}

async function look(pool: Pool, search: DeliverySearch): Promise<DeliveryList> {
  const { partnerId, status, event, loanId, outcome, statusCode, from, until, after, limit } = search;
  const last = [LAST_ID, after?.eventId, until && firstIdAt(until)].filter((bound) => typeof bound === 'string');
  const { depth, most } = depthOf(search);
  const walked = (sql: Tx, column: '*' | 'event_id') => sql`
    select ${column === '*' ? sql`*` : sql`event_id`} from deliveries
    where webhook_id = w.id and partner_id = ${partnerId} and event_id <= ${last.toSorted()[0] as string}
      and event_id >= ${firstIdAt(from ?? new Date(0))}
      and (event_id, w.id) < (${after?.eventId ?? LAST_ID}::uuid, ${after?.webhookId ?? LAST_ID}::uuid)
      ${until === null ? sql`` : sql`and event_id < ${firstIdAt(until)}`}
      ${status === 'erro' ? sql`and status = 'erro'` : sql``}
      ${status === 'suspensa' ? sql`and status = 'suspensa'` : sql``}
      ${loanId === null ? sql`` : sql`and event_id = any (array(select id from events where stream = ${loanId}))`}
    order by event_id desc`;
  const rows = await pool.run(
    (sql) => sql<({ stopEvent: string | null; stopWebhook: string | null } & (DeliveryRow | { id: null }))[]>`
      with scan as materialized (
        select d.* from unnest(${[...search.webhookIds]}::uuid[]) w (id)
        cross join lateral (
          select * from (${walked(sql, '*')} limit ${depth}) looked
          where ${status}::text is null or status = ${status}
          limit ${most}
        ) d
      ),
      stop as (
        select event_id, webhook_id from (
          select webhook_id, (array_agg(event_id order by event_id))[1] as event_id
          from scan group by webhook_id having count(*) = ${most}
          ${
            most === depth
              ? sql``
              : sql`
                union all
                select w.id, (${walked(sql, 'event_id')} offset ${depth - 1} limit 1) from unnest(${[...search.webhookIds]}::uuid[]) w (id)
                where (select count(*) from scan where webhook_id = w.id) < ${most}`
          }
        ) ends
        where event_id is not null
        order by event_id desc, webhook_id desc limit 1
      ),
      page as (
        select ${columns(sql)}
        from scan d
        cross join lateral (select type, loan_version, stream from messages where event_id = d.event_id limit 1) m
        ${lastAttempt(sql)}
        where (d.event_id, d.webhook_id) >= (coalesce((select event_id from stop), ${firstIdAt(new Date(0))}),
                                             coalesce((select webhook_id from stop), ${firstIdAt(new Date(0))}))
          and (${event}::text is null or m.type = ${event})
          and (${outcome}::text is null or last.outcome = ${outcome})
          and (${statusCode}::int is null or last.status_code = ${statusCode})
        order by d.event_id desc, d.webhook_id desc
        limit ${limit + 1}
      )
      select (select event_id from stop) as "stopEvent", (select webhook_id from stop) as "stopWebhook", page.*
      from (values (1)) one left join page on true
      order by page."eventId" desc, page."webhookId" desc`,
  );
  const found = rows.flatMap((row) => (row.id === null ? [] : [row]));
  const shown = found.slice(0, limit);
  const lastShown = shown.at(-1);
  if (found.length > limit && lastShown !== undefined) return { deliveries: shown.map(view), next: lastShown };
  const { stopEvent: eventId = null, stopWebhook: webhookId = null } = rows[0] ?? {};
  return { deliveries: shown.map(view), next: eventId && webhookId ? { eventId, webhookId } : null };
}

export interface FoundDelivery extends AttemptPage {
  readonly delivery: DeliveryResource;
}

/** One delivery of the partner with its newest attempts, also from an archive; null when the id does not exist. */
export async function readDelivery(
  pool: Pool,
  partnerId: string,
  id: string,
  wanted: AttemptsWanted = NEWEST,
  archived: ArchivedDelivery | null = null,
): Promise<FoundDelivery | null> {
  return pool.transaction(async (tx) => {
    // One snapshot: otherwise an attempt recorded in between would stand beside the delivery's earlier state.
    await tx`set transaction isolation level repeatable read, read only`;
    const rows = rowsOf(tx, archived);
    const [row] = await tx<DeliveryRow[]>`
      select ${columns(tx)}
      from ${rows.deliveries} d join messages m on m.event_id = d.event_id
      ${lastAttempt(tx, rows.attempts)}
      where d.id = ${id} and d.partner_id = ${partnerId}`;
    return row === undefined ? null : { delivery: view(row), ...(await readAttempts(tx, id, wanted, rows.attempts)) };
  });
}

function view(row: DeliveryRow): DeliveryResource {
  return {
    id: row.id,
    webhook_id: row.webhookId,
    evento_id: row.eventId,
    evento: row.event,
    teste: row.isTest,
    emprestimo_id: row.loanId,
    versao_emprestimo: row.loanVersion,
    status: row.status,
    total_tentativas: row.attempts,
    ultimo_resultado: row.outcome,
    ultimo_status_http: row.statusCode,
    em_andamento: row.isClaimed,
    // While claimed, or waiting for another of its loan, it has no scheduled attempt.
    proxima_tentativa_em: row.isClaimed || row.isHeld ? null : (row.nextAttemptAt?.toISOString() ?? null),
    criada_em: row.createdAt.toISOString(),
    concluida_em: row.finishedAt?.toISOString() ?? null,
  };
}

/** The deliveries of one event by id, with their newest attempts: {@link ATTEMPTS_SHOWN} in all, at most. */
export async function readEventDeliveries(
  pool: Pool,
  partnerId: string,
  eventId: string,
): Promise<DeliveryWithAttempts[]> {
  const ids = await pool.run(
    (sql) => sql<{ id: string }[]>`
      select id from deliveries
      where webhook_id = any (array(select w.id from webhooks w where w.partner_id = ${partnerId}))
        and partner_id = ${partnerId} and event_id = ${eventId}
      order by id`,
  );
  const wanted = { before: null, most: Math.floor(ATTEMPTS_SHOWN / Math.max(1, ids.length)) };
  const found = await Promise.all(ids.map(({ id }) => readDelivery(pool, partnerId, id, wanted)));
  return found.flatMap((one) => (one === null ? [] : [Object.assign(one.delivery, { tentativas: one.attempts })]));
}
