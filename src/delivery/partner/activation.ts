/**
 * The pending deliveries of a webhook when its partner deactivates or resumes it (contract, section 2).
 *
 * Each function works one batch a transaction until nothing is left or its time is up. A crash between two batches loses
 * nothing: a deactivation has left an arrival, so the pollers suspend the rest (queue/orders/suspend.ts); a resumption is
 * repeated by the partner, who was answered 503.
 *
 * Invariant: where a webhook keeps the order of loans, no delivery passes one of its loan that is still to be resumed. The
 * transaction that activates says on the lane that the suspended ones are coming ({@link leaveToResume}), before any new
 * event can have a delivery; the last batch takes it back. After a crash it holds for {@link RESUMPTION_S} more: time to
 * repeat the request, and no longer, because a suspended delivery that nobody resumes must not hold its loan for ever.
 */
import type { Result } from '../../contract/refusals.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { insertArrivals } from '../queue/arrivals.ts';
import { type Author, logSendOrder } from '../queue/orders/send-orders.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../queue/orders/suspend.ts';

export const RESUMED_AT_ONCE = 1_000;
/** How long suspended deliveries hold back later ones of their loans, once their resumption was asked for. */
export const RESUMPTION_S = 300;

/** Lets what is suspended hold back the loans that it is of; part of the transaction that activates, if it resumes too. */
export async function leaveToResume(tx: Tx, webhookId: string, now: Date | null = null): Promise<void> {
  await tx`
    update lanes
    set version = version + 1,
        resumes_until = coalesce(${now}::timestamptz, now()) + ${RESUMPTION_S} * interval '1 second'
    where webhook_id = ${webhookId}`;
}

/**
 * Makes up to a batch of an active webhook's suspended deliveries due now, their spent slots spent; returns how many. A
 * batch that is not full is the last one.
 */
async function resumeBatch(tx: Tx, webhookId: string, author: Author): Promise<number> {
  const rows = await tx<{ id: string; partnerId: string }[]>`
    with open as materialized (
      select id, partner_id from webhooks where id = ${webhookId} and active for share
    )
    select suspended.id, open.partner_id as "partnerId"
    from open
    cross join lateral (
      select d.id from deliveries d
      where d.webhook_id = open.id and d.partner_id = open.partner_id and d.status = 'suspensa'
      order by d.event_id
      limit ${RESUMED_AT_ONCE}
      for update
    ) suspended`;
  if (rows.length < RESUMED_AT_ONCE) {
    await tx`
      update lanes set version = version + 1, resumes_until = null
      where webhook_id = ${webhookId} and resumes_until is not null`;
  }
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  await tx`
    update deliveries set status = 'pendente', next_attempt_at = now()
    where id = any (${ids}::uuid[]) and partner_id = ${rows[0]?.partnerId ?? null}`;
  await logSendOrder(tx, 'retomada', webhookId, ids, author);
  await insertArrivals(tx, [webhookId]);
  return rows.length;
}

/** Leaves the arrival by which the pollers suspend what is pending; part of the transaction that deactivates. */
export async function leaveToSuspend(tx: Tx, webhookId: string): Promise<void> {
  await insertArrivals(tx, [webhookId]);
}

/** Suspends, a batch a transaction, until nothing is left or `untilMs` has come; the claims go on with the rest. */
export async function suspendWhile(pool: Pool, webhookId: string, untilMs: number): Promise<void> {
  while ((await pool.transaction((tx) => suspendUnclaimed(tx, [webhookId]))) === SUSPENDED_AT_ONCE) {
    if (performance.now() >= untilMs) return;
  }
}

/** Resumes, a batch a transaction, until nothing is suspended; refused when `untilMs` comes first. */
export async function resumeWhile(
  pool: Pool,
  webhookId: string,
  author: Author,
  untilMs: number,
): Promise<Result<'resumed', 'stillSuspended'>> {
  while ((await pool.transaction((tx) => resumeBatch(tx, webhookId, author))) === RESUMED_AT_ONCE) {
    if (performance.now() >= untilMs) return { refused: { kind: 'stillSuspended' } };
  }
  return { ok: 'resumed' };
}
