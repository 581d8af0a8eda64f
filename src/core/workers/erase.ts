/**
 * Carries out the orders to erase, one page per transaction.
 *
 * Invariant: a page's transaction ends its events' pending deliveries, overwrites the events (erase_page.sql), folds the loans
 * again, and moves on, so a crash leaves whole pages. The worker locks the order's row; other workers skip it. The work waits
 * for deliveries in flight; an attempt recorded after its lease is stored without the receiver's answer (queue/record.ts).
 *
 * Alternative: one transaction for all; ten thousand rows would delay all seals and feeds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, Tx } from '../../db/pool.ts';
import { runLoop } from '../../db/outage-log.ts';
import { endForErasure } from '../../delivery/queue/orders/end-for-erasure.ts';
import { fold } from '../../loan/evolve.ts';
import type { Logger } from '../../log-lines.ts';
import { readStream } from '../../log/read.ts';

export const EVERY_MS = 10_000;

export interface ErasureState {
  readonly id: string;
  readonly courtOrder: string | null;
  readonly actor: string;
  readonly reason: string;
  readonly orderedAt: Date;
  readonly events: number;
  readonly pages: number;
  readonly pagesDone: number;
  /** Null while the work continues. */
  readonly doneAt: Date | null;
}

/** `waits`: a POST with a text to erase is still in flight. */
export type EraseBatch = 'idle' | 'worked' | 'waits';

const REST_MS: Readonly<Record<EraseBatch, number>> = { idle: EVERY_MS, worked: 0, waits: 1_000 };

/** Does the next page of the oldest order without another worker. */
export async function eraseBatch(pool: Pool): Promise<EraseBatch> {
  return pool.transaction(async (tx) => {
    const [work] = await tx<{ orderId: string; page: number; pages: number }[]>`
      select w.order_id as "orderId", w.next_page as page, o.pages
      from erasures w
      join erasure_orders o on o.id = w.order_id
      where w.done_at is null
      order by w.order_id
      limit 1
      for update of w skip locked`;
    if (work === undefined) return 'idle';
    const { orderId, page, pages } = work;
    if (page > pages) {
      await tx`select end_erasure(${orderId})`;
      return 'worked';
    }
    const [{ eventIds, own }] = await tx<[{ eventIds: string[]; own: string[] }]>`
      select event_ids as "eventIds", array(
        select e.id from unnest(event_ids, remains) as one (id, remains) join events e using (id)
        where sha256(convert_to(erased(e.data)::text, 'UTF8')) = one.remains) as own
      from erasure_pages where order_id = ${orderId} and number = ${page}`;
    if (!(await endForErasure(tx, eventIds, own, orderId))) return 'waits';
    await tx`select erase_page(${orderId}, ${page})`;
    await foldAgain(tx, eventIds);
    await tx`update erasures set next_page = ${page + 1} where order_id = ${orderId}`;
    return 'worked';
  });
}

/** The loans of these events as their streams fold now, at the versions that they have. */
async function foldAgain(tx: Tx, eventIds: readonly string[]): Promise<void> {
  const loans = await tx<{ id: string; version: number }[]>`
    select id, version from loans
    where id = any (array(select stream from events where id = any (${eventIds as string[]}::uuid[])))
    order by id
    for no key update`;
  for (const { id, version } of loans) {
    const state = fold(await readStream(tx, id, version));
    if (state !== null) await tx`update loans set state = ${JSON.stringify(state)}::text::json where id = ${id}`;
  }
}

/** Works until nothing is left. */
export async function eraseAll(pool: Pool, onPage?: () => Promise<void>): Promise<void> {
  for (let batch = await eraseBatch(pool); batch !== 'idle'; batch = await eraseBatch(pool)) {
    await onPage?.();
    await sleep(REST_MS[batch]);
  }
}

/** Does what is ordered until `signal` is aborted, through outages too. */
export async function runEraser(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const loop = {
    log,
    afterFaultMs: EVERY_MS,
    away: 'the database is out of reach, erasing later',
    fault: 'the work of an order to erase failed',
  };
  await runLoop(loop, signal, async () => REST_MS[await eraseBatch(pool)]);
}

/** Null when there is no order of that id. */
export async function readErasure(sql: Tx, id: string): Promise<ErasureState | null> {
  const [state] = await readStates(sql, sql`o.id = ${id}`, 1);
  return state ?? null;
}

/** The newest orders first, those before the order `before`. */
export async function readErasures(sql: Tx, before: string | null, limit: number): Promise<ErasureState[]> {
  return readStates(sql, before === null ? sql`true` : sql`o.id < ${before}`, limit);
}

function readStates(sql: Tx, chosen: ReturnType<Tx>, limit: number): Promise<ErasureState[]> {
  return sql<ErasureState[]>`
    select o.id, o.court_order as "courtOrder", o.actor, o.reason, o.ordered_at as "orderedAt", o.events, o.pages,
           w.next_page - 1 as "pagesDone", w.done_at as "doneAt"
    from erasure_orders o
    join erasures w on w.order_id = o.id
    where ${chosen}
    order by o.id desc
    limit ${limit}`;
}
