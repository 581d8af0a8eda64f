/**
 * The order to forget a worker: one row, and pages that list the events, in one transaction, sealed and never changed. erase.ts
 * carries it out afterwards.
 *
 * Invariant: only events on a page are overwritten. A page has the digest of each event's remaining content: an event of the
 * worker loses all its texts, an event of another worker loses this CPF (without_cpf.sql). The order never names the worker;
 * `erasures` holds the CPF until the work is done. A second order for the CPF meanwhile is the same order.
 */
import type { Refused, Result } from '../../contract/refusals.ts';
import { dayOf } from '../../contract/calendar.ts';
import type { Pool } from '../../db/pool.ts';
import { readClock } from '../../log/read.ts';
import { findWorker } from './find-worker.ts';
import { indexWorkers } from './worker-index.ts';
import type { WorkerKey } from './worker-key.ts';

/** So that the proof of a delivery, which has one page, stays short. */
const EVENTS_A_PAGE = 50;

export interface ErasureOrder {
  readonly cpf: string;
  readonly actor: string;
  readonly reason: string;
  /** The number of a court's order, which no loan and no legal period stands against. */
  readonly courtOrder: string | null;
  /** How long the law has a loan's data kept after its end. */
  readonly years: number;
}

export interface Ordered {
  readonly id: string;
  readonly events: number;
  /** Events of other workers, in which only this CPF is replaced; all of them when the order is new. */
  readonly ofOthers: readonly string[];
  /** False if the work of this order had already begun. */
  readonly isNew: boolean;
}

export async function orderErasure(
  pool: Pool,
  key: WorkerKey,
  { cpf, actor, reason, courtOrder, years }: ErasureOrder,
): Promise<Result<Ordered, 'unknownWorker' | 'loanOpen' | 'legalPeriod'>> {
  await indexWorkers(pool, key);
  return pool.transaction<Result<Ordered, 'unknownWorker' | 'loanOpen' | 'legalPeriod'>>(async (tx) => {
    await tx`select pg_advisory_xact_lock(advisory_lock('ordering erasures'))`;
    const [running] = await tx<Ordered[]>`
      select o.id, o.events, '{}'::uuid[] as "ofOthers", false as "isNew" from erasures w join erasure_orders o on o.id = w.order_id where w.cpf = ${cpf}`;
    if (running !== undefined) return { ok: running };
    const { events, loans } = await findWorker(tx, key, cpf, years);
    if (events.length === 0) return { refused: { kind: 'unknownWorker' } };
    const ofOthers = events.filter(({ isOwn }) => !isOwn).map(({ id }) => id);
    const refused = courtOrder === null ? whatStandsAgainst(loans, dayOf(await readClock(tx))) : null;
    if (refused !== null) return refused;
    const [order] = await tx<[{ id: string }]>`
      insert into erasure_orders (court_order, actor, reason, events, pages)
      values (${courtOrder}, ${actor}, ${reason}, ${events.length}, ${Math.ceil(events.length / EVENTS_A_PAGE)})
      returning id`;
    await tx`
      insert into erasure_pages (order_id, number, event_ids, remains)
      select ${order.id}, page, array_agg(id order by id), array_agg(remains order by id)
      from (
        select e.id, (row_number() over (order by e.id)::int + ${EVENTS_A_PAGE - 1}) / ${EVENTS_A_PAGE}::int as page,
               sha256(convert_to(case when e.id = any (${ofOthers}::uuid[]) then without_cpf(e.data, ${cpf}) else erased(e.data) end::text, 'UTF8')) as remains
        from events e where e.id = any (${events.map(({ id }) => id)}::uuid[])
      ) listed
      group by page
      order by page`;
    await tx`insert into erasures (order_id, cpf) values (${order.id}, ${cpf})`;
    return { ok: { id: order.id, events: events.length, ofOthers, isNew: true } };
  });
}

type Loans = Awaited<ReturnType<typeof findWorker>>['loans'];

function whatStandsAgainst(loans: Loans, today: string): Refused<'loanOpen' | 'legalPeriod'> | null {
  const open = loans.find(({ endedOn }) => endedOn === null);
  if (open !== undefined) return { refused: { kind: 'loanOpen', loanId: open.id, status: open.status } };
  const until = loans
    .map(({ mayBeErasedFrom }) => mayBeErasedFrom ?? '')
    .toSorted()
    .at(-1);
  return until === undefined || until <= today ? null : { refused: { kind: 'legalPeriod', until } };
}
