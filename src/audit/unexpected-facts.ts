/**
 * Finds, for auditors, the events that break the loan's rules at their position. A core in another language may append any event of
 * the catalog; such an event was delivered and is folded (loan/evolve.ts).
 * An event is judged by the earlier events of its stream. These never change, so no snapshot is needed. Each stream with an event
 * in the slice is read whole; a slice with more than {@link STREAMS_AT_ONCE} streams is read minute by minute.
 */
import type { DifferenceResource } from '../contract/resources/audit-resource.ts';
import { dayOf } from '../contract/calendar.ts';
import { NOT_FACTS } from '../contract/delivery.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { type JudgedEvent, judgeStream } from '../loan/expected.ts';
import { OTHER_TYPES } from '../loan/rules.ts';
import { sightOf } from './seals/rows.ts';

export interface Span {
  readonly start: Date;
  readonly end: Date;
}

const STREAMS_AT_ONCE = 5_000;
const MINUTE_MS = 60_000;

type StoredEvent = JudgedEvent & { readonly id: string; readonly stream: string; readonly isInSpan: boolean };

/** The differences of a slice, in the order of partner and event. */
export async function findUnexpected(pool: Pool, slice: Span): Promise<DifferenceResource[]> {
  const streams = await pool.run((sql) => countStreams(sql, slice));
  const spans = streams <= STREAMS_AT_ONCE ? [slice] : minutesOf(slice);
  const found: DifferenceResource[] = [];
  for (const span of streams === 0 ? [] : spans) {
    const events = await pool.run((sql) => readStreams(sql, span));
    for (const [stream, own] of Map.groupBy(events, (event) => event.stream)) {
      for (const [event, mismatch] of judgeStream(stream, own, ({ isInSpan }) => isInSpan))
        if (mismatch !== null) found.push(differenceOf(event, mismatch.pt));
    }
  }
  return found.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function keyOf({ parceiro_id, evento_id }: DifferenceResource): string {
  return `${parceiro_id} ${evento_id}`;
}

function minutesOf({ start, end }: Span): Span[] {
  const minutes = Math.ceil((end.getTime() - start.getTime()) / MINUTE_MS);
  return Array.from({ length: minutes }, (_, index) => ({
    start: new Date(start.getTime() + index * MINUTE_MS),
    end: new Date(Math.min(start.getTime() + (index + 1) * MINUTE_MS, end.getTime())),
  }));
}

/** The first event of a stream that is not a loan's always fits. */
function touched(sql: Tx, { start, end }: Span) {
  return sql`
    select distinct stream
    from (select stream, type, version from events where not imported and occurred_at >= ${start} and occurred_at < ${end}
          union all
          select stream, type, version from events where imported and occurred_at >= ${start} and occurred_at < ${end}) day
    where type <> all (${NOT_FACTS as string[]})
      and (version > 1 or type <> all (${OTHER_TYPES as readonly string[] as string[]}))`;
}

async function countStreams(sql: Tx, span: Span): Promise<number> {
  const [{ streams }] = await sql<[{ streams: number }]>`
    select count(*)::int as streams from (${touched(sql, span)} limit ${STREAMS_AT_ONCE + 1}) found`;
  return streams;
}

async function readStreams(sql: Tx, span: Span): Promise<StoredEvent[]> {
  const facts = (await sightOf(sql)) === 'whole' ? sql`facts` : sql`masked_facts`;
  return sql<StoredEvent[]>`
    with touched as materialized (${touched(sql, span)})
    select e.*
    from touched t
    cross join lateral (
      select id, stream, version, type, partner_id as "partnerId", data, occurred_at as "occurredAt",
             occurred_at >= ${span.start} and occurred_at < ${span.end} as "isInSpan"
      from ${facts}
      where stream = t.stream
      order by version
      offset 0
    ) e
    order by e.stream, e.version`;
}

function differenceOf({ id, partnerId, type, occurredAt }: StoredEvent, detalhe: string): DifferenceResource {
  return {
    tipo: 'fato_inesperado',
    dia: dayOf(occurredAt),
    parceiro_id: partnerId,
    evento_id: id,
    evento: type,
    webhook_id: null,
    entrega_id: null,
    detalhe,
  };
}
