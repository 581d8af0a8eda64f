/**
 * Resends: the same delivery, with the same id and bytes, on a fresh schedule, whatever became of it before.
 *
 * Invariant: a resent delivery is pending and due now with no slot spent; attempt numbers go on, so no row of evidence is
 * overwritten. What a lost or late poller still reports is fenced out as ever, and its success still counts.
 * One of them, asked for by name: a claim on it is ended, and its attempt logged as lost, in the same transaction.
 * Many: what is under way is left alone and counted. They are only made due; the lanes pace them by their caps.
 * A crash between two batches leaves the first ones resent. The answer's place lets the caller go on, so there is no
 * limit, and no job that somebody must find again. Alternative: a job row and a worker for it, which would need the same
 * batches, and an operation to ask after it.
 */
import type { DELIVERY_STATUSES } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { insertArrivals } from './arrivals.ts';
import { LEASE_S } from './lease.ts';
import { logLostAttempts } from './lost.ts';
import { firstIdAt } from './read-deliveries.ts';
import { type Author, logSendOrder } from './send-orders.ts';

type Status = (typeof DELIVERY_STATUSES)[number];

const BATCH = 1_000;

/** Puts these locked deliveries of one registration at the start of their schedule, due now. */
async function startAfresh(tx: Tx, webhookId: string, ids: readonly string[]): Promise<void> {
  await logLostAttempts(tx, ids);
  await tx`
    update deliveries
    set status = 'pendente', failures = 0, lost_in_row = 0, claimed_by = null, claimed_at = null,
        next_attempt_at = now(), finished_at = null
    where id = any (${ids as string[]}::uuid[])`;
  await insertArrivals(tx, [webhookId]);
}

/** Resends one delivery of the partner. Null when there is none of that id. */
export async function resendOne(
  tx: Tx,
  partnerId: string,
  id: string,
  author: Author,
): Promise<'resent' | 'inactive' | null> {
  const [row] = await tx<{ webhookId: string }[]>`
    select webhook_id as "webhookId"
    from deliveries where id = ${id} and partner_id = ${partnerId}
    for update`;
  if (row === undefined) return null;
  if (!(await holdActive(tx, row.webhookId))) return 'inactive';
  await startAfresh(tx, row.webhookId, [id]);
  await logSendOrder(tx, 'reenvio', row.webhookId, [id], author);
  return 'resent';
}

/** Which deliveries of a registration; they are gone through in the order of their events. */
export interface ManyToResend {
  readonly webhookId: string;
  readonly from: Date;
  /** Made before. */
  readonly until: Date;
  readonly statuses: readonly Status[];
  /** The event after which an earlier request stopped. */
  readonly after: string | null;
  /** True only counts. */
  readonly simulate: boolean;
  readonly author: Author;
}

export interface ResentMany {
  readonly count: number;
  readonly inFlight: number;
  /** Where to go on; null when all was gone through. */
  readonly next: string | null;
}

/** Resends, a batch a transaction, until all is done or `untilMs` has come. Null when the registration is inactive. */
export async function resendMany(pool: Pool, many: ManyToResend, untilMs: number): Promise<ResentMany | null> {
  let [count, inFlight] = [0, 0];
  let after = many.after;
  for (;;) {
    const batch = await pool.transaction((tx) => resendBatch(tx, { ...many, after }));
    if (batch === null) return null;
    count += batch.count;
    inFlight += batch.inFlight;
    after = batch.next;
    if (after === null || performance.now() >= untilMs) return { count, inFlight, next: after };
  }
}

async function resendBatch(tx: Tx, many: ManyToResend): Promise<ResentMany | null> {
  const { webhookId, simulate } = many;
  const statuses = [...many.statuses];
  if (!simulate && !(await holdActive(tx, webhookId))) return null;
  const { ids, next } = await nextBatch(tx, many);
  const rows = await tx<{ id: string; isInFlight: boolean }[]>`
    select id, coalesce(claimed_at > now() - ${LEASE_S} * interval '1 second', false) as "isInFlight"
    from deliveries
    where id = any (${ids}::uuid[])
      and status = any (${statuses}::text[])
    order by id
    ${simulate ? tx`` : tx`for update`}`;
  const chosen = rows.filter((row) => !row.isInFlight).map((row) => row.id);
  if (!simulate && chosen.length > 0) {
    await startAfresh(tx, webhookId, chosen);
    await logSendOrder(tx, 'reenvio_em_lote', webhookId, chosen, many.author);
  }
  return { count: chosen.length, inFlight: rows.length - chosen.length, next };
}

/** The next deliveries of the period, of any status: it is asked for again when they are locked. */
async function nextBatch(tx: Tx, { webhookId, from, until, after }: ManyToResend) {
  const rows = await tx<{ id: string; eventId: string }[]>`
    select id, event_id as "eventId"
    from deliveries
    where webhook_id = ${webhookId} and event_id >= ${firstIdAt(from)} and event_id < ${firstIdAt(until)}
      and (${after}::uuid is null or event_id > ${after})
    order by event_id
    limit ${BATCH}`;
  return { ids: rows.map((row) => row.id), next: rows.length === BATCH ? (rows.at(-1)?.eventId ?? null) : null };
}

/** True while the registration is active, which it then stays until the transaction ends. */
async function holdActive(tx: Tx, webhookId: string): Promise<boolean> {
  const rows = await tx`select from webhooks where id = ${webhookId} and active for share`;
  return rows.length === 1;
}
