/**
 * Resends: the same delivery, with the same id and bytes, on a fresh schedule.
 * Invariant: a resent delivery is pending, due now, with no slot of its schedule spent. Attempt numbers go on, so all evidence stays. A
 * late report of the attempt before changes nothing, unless it is a success.
 * One delivery by id: an erased one is refused; a claim on it is ended, and its attempt logged as lost, in the same transaction. Many:
 * those in flight are left alone and counted; tests and erased ones are left out.
 * Crash between batches: the first batches stay resent, and the caller goes on with the answer's cursor. Alternative: a job with a
 * worker; it needs the same batches and an operation to ask for its state.
 */
import { NOT_FOUND, type Refused, type Result } from '../../contract/refusals.ts';
import type { DELIVERY_STATUSES } from '../../contract/statuses.ts';
import { firstIdAt } from '../../db/first-id.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import { logLostAttempts, readInFlight } from '../queue/rescuer.ts';
import { type Author, logSendOrder } from '../queue/orders/send-orders.ts';

type Status = (typeof DELIVERY_STATUSES)[number];

const BATCH = 1_000;
const DEADLOCK_TRIES = 5;
const INACTIVE: Refused<'webhookInactive'> = { refused: { kind: 'webhookInactive' } };

/** Puts these locked deliveries of one webhook at the start of their schedule, due now. */
async function startAfresh(tx: Tx, partnerId: string, ids: readonly string[]): Promise<void> {
  await logLostAttempts(tx, ids);
  await tx`
    update deliveries
    set status = 'pendente', failures = 0, lost_in_row = null, next_attempt_at = now(), finished_at = null
    where id = any (${ids as string[]}::uuid[]) and partner_id = ${partnerId}`;
}

/**
 * Resends one delivery of the partner. Lock order: the webhook, then the delivery, as resumptions, suspensions and batches do; the reverse
 * deadlocks with a resumption when a deactivation is queued between.
 */
export async function resendOne(
  tx: Tx,
  partnerId: string,
  id: string,
  author: Author,
): Promise<Result<'resent', 'notFound' | 'webhookInactive' | 'erased'>> {
  const [row] = await tx<{ webhookId: string }[]>`
    select webhook_id as "webhookId" from deliveries where id = ${id} and partner_id = ${partnerId}`;
  if (row === undefined) return NOT_FOUND;
  if (!(await holdActive(tx, partnerId, row.webhookId))) return INACTIVE;
  await tx`select from deliveries where id = ${id} and partner_id = ${partnerId} for update`;
  // Read behind the lock, which an erasure holds until it has committed.
  const erased = await tx`
    select from deliveries d join messages m on m.event_id = d.event_id and m.salt is null where d.id = ${id}`;
  if (erased.length > 0) return { refused: { kind: 'erased' } };
  await startAfresh(tx, partnerId, [id]);
  await logSendOrder(tx, 'reenvio', row.webhookId, [id], author);
  return { ok: 'resent' };
}

/** The deliveries of a webhook to resend, in the order of their events. */
export interface ManyToResend {
  readonly partnerId: string;
  readonly webhookId: string;
  readonly from: Date;
  /** Created before. */
  readonly until: Date;
  readonly statuses: readonly Status[];
  /** Names of their events; null: all. */
  readonly events: readonly string[] | null;
  /** The event at which an earlier request stopped. */
  readonly after: string | null;
  /** Only counts. */
  readonly simulate: boolean;
  readonly author: Author;
}

export interface ResentMany {
  readonly count: number;
  readonly inFlight: number;
  /** Cursor to go on from; null when done. */
  readonly next: string | null;
}

/** Resends in batches until all is done or `untilMs`. */
export async function resendMany(
  pool: Pool,
  many: ManyToResend,
  untilMs: number,
): Promise<Result<ResentMany, 'webhookInactive'>> {
  let [count, inFlight] = [0, 0];
  let after = many.after;
  for (;;) {
    const batch = await untangled(() => pool.transaction((tx) => resendBatch(tx, { ...many, after })));
    if ('refused' in batch) return batch;
    count += batch.ok.count;
    inFlight += batch.ok.inFlight;
    after = batch.ok.next;
    if (after === null || performance.now() >= untilMs) return { ok: { count, inFlight, next: after } };
  }
}

/** On a webhook in order, a record and a batch may wait for each other's deliveries: PostgreSQL cancels one, which is repeated. */
async function untangled<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== '40P01' || tries === DEADLOCK_TRIES) throw error;
    }
  }
}

async function resendBatch(tx: Tx, many: ManyToResend): Promise<Result<ResentMany, 'webhookInactive'>> {
  const { partnerId, webhookId, simulate } = many;
  const [statuses, events] = [[...many.statuses], many.events && [...many.events]];
  if (!simulate && !(await holdActive(tx, partnerId, webhookId))) return INACTIVE;
  const { ids, next } = await nextBatch(tx, many);
  const rows = await tx<{ id: string }[]>`
    select id from deliveries
    where id = any (${ids}::uuid[]) and partner_id = ${partnerId}
      and status = any (${statuses}::text[]) and is_test is not true
      and (${events}::text[] is null
           or (select type from messages m where m.event_id = deliveries.event_id limit 1) = any (${events}::text[]))
      and not exists (select from messages m where m.event_id = deliveries.event_id and m.salt is null)
    order by id
    ${simulate ? tx`` : tx`for update`}`;
  const found = rows.map((row) => row.id);
  const flying = await readInFlight(tx, found, !simulate);
  const chosen = found.filter((id) => !flying.has(id));
  if (!simulate && chosen.length > 0) {
    await startAfresh(tx, partnerId, chosen);
    await logSendOrder(tx, 'reenvio_em_lote', webhookId, chosen, many.author);
  }
  return { ok: { count: chosen.length, inFlight: flying.size, next } };
}

/** The next deliveries of the period, of any status: the status is read again under the lock. */
async function nextBatch(tx: Tx, { partnerId, webhookId, from, until, after }: ManyToResend) {
  const rows = await tx<{ id: string; eventId: string }[]>`
    select id, event_id as "eventId"
    from deliveries
    where webhook_id = ${webhookId} and partner_id = ${partnerId}
      and event_id >= ${firstIdAt(from)} and event_id < ${firstIdAt(until)}
      and (${after}::uuid is null or event_id > ${after})
    order by event_id
    limit ${BATCH}`;
  return { ids: rows.map((row) => row.id), next: rows.length === BATCH ? (rows.at(-1)?.eventId ?? null) : null };
}

/** True while the webhook is active; it then stays so until the transaction ends. */
async function holdActive(tx: Tx, partnerId: string, webhookId: string): Promise<boolean> {
  const rows = await tx`
    select from webhooks where id = ${webhookId} and partner_id = ${partnerId} and active for share`;
  return rows.length === 1;
}
