/**
 * Deliveries as a partner reads them: a registration's list, newest first, and one with its attempts.
 *
 * The list walks `deliveries_once`, whose events are UUIDv7: that is the order of time, and a period is a range of it.
 * A search by status or event looks at a bounded number of rows for each page and tells where it stopped, so that a
 * rare match among millions costs short pages and never a long statement.
 */
import type { AttemptResource, DeliveryResource, DeliveryWithAttempts } from '../contract/delivery-resource.ts';
import type { Outcome } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { readableAnswer } from './answer-text.ts';

const SCANNED_A_PAGE = 5_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface DeliverySearch {
  readonly webhookId: string;
  readonly status: DeliveryResource['status'] | null;
  readonly event: DeliveryResource['evento'] | null;
  readonly loanId: string | null;
  /** Made at or after. */
  readonly from: Date | null;
  /** Made before. */
  readonly until: Date | null;
  /** The event after which a page before this one stopped. */
  readonly after: string | null;
  readonly limit: number;
}

interface Row {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: DeliveryResource['evento'];
  readonly loanId: string | null;
  readonly loanVersion: number | null;
  readonly status: DeliveryResource['status'];
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly isClaimed: boolean;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** The least UUIDv7 of a moment: the bound of a period on ids that are made in the order of time. */
export function firstIdAt(at: Date): string {
  const ms = at.getTime().toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}

/** The columns of {@link Row}, of deliveries `d` and messages `m`. */
function columns(sql: Tx) {
  return sql`
    d.id, d.webhook_id as "webhookId", d.event_id as "eventId", m.type as event,
    case when m.loan_version is not null then (select e.stream from events e where e.id = d.event_id) end as "loanId",
    m.loan_version as "loanVersion", d.status, d.attempts, d.next_attempt_at as "nextAttemptAt",
    d.claimed_by is not null as "isClaimed",
    coalesce(uuid_extract_timestamp(d.event_id), d.created_at) as "createdAt", d.finished_at as "finishedAt"`;
}

export interface DeliveryList {
  readonly deliveries: readonly DeliveryResource[];
  /** Where the next page goes on; null at the end of the list. */
  readonly next: string | null;
}

/** One page of a registration's deliveries. */
export async function readDeliveries(pool: Pool, search: DeliverySearch): Promise<DeliveryList> {
  const { webhookId, status, event, loanId, from, until, after, limit } = search;
  const last = [LAST_ID, after, until && firstIdAt(until)].filter((bound) => bound !== null).toSorted()[0] as string;
  const isStopped = status === 'erro' || status === 'suspensa';
  const scanned = event === null && (status === null || isStopped) ? limit + 1 : SCANNED_A_PAGE;
  const rows = await pool.run(
    (sql) => sql<({ stop: string | null } & (Row | { id: null }))[]>`
      with scan as materialized (
        select * from deliveries
        where webhook_id = ${webhookId} and event_id < ${last} and event_id >= ${firstIdAt(from ?? new Date(0))}
          ${isStopped ? sql`and status = ${status}` : sql``}
          ${loanId === null ? sql`` : sql`and event_id = any (array(select id from events where stream = ${loanId}))`}
        order by event_id desc
        limit ${scanned}
      ),
      stop as (
        select case when count(*) = ${scanned} then (array_agg(event_id order by event_id))[1] end as stop from scan
      ),
      page as (
        select ${columns(sql)}
        from scan d
        join messages m on m.event_id = d.event_id
        where (${status}::text is null or d.status = ${status}) and (${event}::text is null or m.type = ${event})
        order by d.event_id desc
        limit ${limit + 1}
      )
      select * from stop left join page on true order by page."eventId" desc`,
  );
  const found = rows.filter((row): row is Row & { stop: string | null } => row.id !== null);
  const shown = found.slice(0, limit);
  const next = found.length > limit ? (shown.at(-1)?.eventId ?? null) : (rows[0]?.stop ?? null);
  return { deliveries: shown.map(view), next };
}

/** One delivery of the partner with its attempts; null when there is none of that id. */
export async function readDelivery(pool: Pool, partnerId: string, id: string): Promise<DeliveryWithAttempts | null> {
  return pool.transaction(async (tx) => {
    // One snapshot: an attempt that is recorded in between would stand beside the delivery as it was before it.
    await tx`set transaction isolation level repeatable read, read only`;
    const [row] = await tx<Row[]>`
      select ${columns(tx)}
      from deliveries d join messages m on m.event_id = d.event_id
      where d.id = ${id} and d.partner_id = ${partnerId}`;
    return row === undefined ? null : { ...view(row), tentativas: await readAttempts(tx, id) };
  });
}

async function readAttempts(sql: Tx, deliveryId: string): Promise<AttemptResource[]> {
  const rows = await sql<
    {
      number: number;
      late: boolean;
      outcome: Outcome;
      statusCode: number | null;
      startedAt: Date;
      durationMs: number | null;
      error: string | null;
      answer: Buffer | null;
    }[]
  >`
    select number, late, outcome, status_code as "statusCode", started_at as "startedAt", duration_ms as "durationMs",
           error, answer
    from attempts where delivery_id = ${deliveryId} order by number, late`;
  return rows.map((row) => ({
    numero: row.number,
    inicio: row.startedAt.toISOString(),
    duracao_ms: row.durationMs,
    resultado: row.outcome,
    status_http: row.statusCode,
    erro: row.error,
    resposta: readableAnswer(row.answer),
    atrasada: row.late,
  }));
}

function view(row: Row): DeliveryResource {
  return {
    id: row.id,
    webhook_id: row.webhookId,
    evento_id: row.eventId,
    evento: row.event,
    emprestimo_id: row.loanId,
    versao_emprestimo: row.loanVersion,
    status: row.status,
    total_tentativas: row.attempts,
    em_andamento: row.isClaimed,
    // Of one that is claimed this is the end of its lease, which says nothing of its schedule.
    proxima_tentativa_em: row.isClaimed ? null : (row.nextAttemptAt?.toISOString() ?? null),
    criada_em: row.createdAt.toISOString(),
    concluida_em: row.finishedAt?.toISOString() ?? null,
  };
}
