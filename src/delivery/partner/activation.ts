/**
 * The pending deliveries of a webhook when its partner deactivates or resumes it, one batch a transaction.
 * Invariant: if a webhook keeps loans in order, no delivery passes one of its loan that is still to be resumed. The activating
 * transaction marks the lane ({@link leaveToResume}) before any new event can have a delivery. The last batch and every deactivation
 * clear the mark. It expires after {@link RESUMPTION_S}, because a forgotten suspended delivery must not block its loan for ever.
 * Crash between batches: after a deactivation the lane's keeper suspends the rest (queue/orders/suspend.ts); the partner repeats a
 * resumption.
 */
import type { Result } from '../../contract/refusals.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { type Author, logSendOrder } from '../queue/orders/send-orders.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../queue/orders/suspend.ts';

export const RESUMED_AT_ONCE = 1_000;
/** How long suspended deliveries hold back later ones of their loans after their resumption was asked for. */
export const RESUMPTION_S = 300;

/** Lets suspended deliveries hold back their loans; part of the transaction that activates and resumes. */
export async function leaveToResume(tx: Tx, webhookId: string, now: Date | null = null): Promise<void> {
  await tx`
    update lanes
    set changed = keeper is not null,
        resumes_until = coalesce(${now}::timestamptz, now()) + ${RESUMPTION_S} * interval '1 second'
    where webhook_id = ${webhookId}`;
}

/** Makes a batch of suspended deliveries of an active webhook due now; spent slots stay spent. True if there may be more. */
async function resumeBatch(tx: Tx, webhookId: string, author: Author): Promise<boolean> {
  const [open] = await tx<{ partnerId: string }[]>`
    select partner_id as "partnerId" from webhooks where id = ${webhookId} and active for share`;
  if (open === undefined) return false;
  const rows = await tx<{ id: string }[]>`
    select id from deliveries
    where webhook_id = ${webhookId} and partner_id = ${open.partnerId} and stopped = 'suspensa'
    order by event_id
    limit ${RESUMED_AT_ONCE}
    for update`;
  if (rows.length > 0) {
    const ids = rows.map((row) => row.id);
    await tx`
      update deliveries set status = 'pendente', next_attempt_at = now()
      where id = any (${ids}::uuid[]) and partner_id = ${open.partnerId}`;
    await logSendOrder(tx, 'retomada', webhookId, ids, author);
  }
  if (rows.length === RESUMED_AT_ONCE) return true;
  await endResumption(tx, webhookId);
  return false;
}

async function endResumption(tx: Tx, webhookId: string): Promise<void> {
  await tx`
    update lanes set changed = keeper is not null, resumes_until = null
    where webhook_id = ${webhookId} and resumes_until is not null`;
}

/** Ends a resumption under way; part of the transaction that deactivates. */
export async function leaveToSuspend(tx: Tx, webhookId: string): Promise<void> {
  await endResumption(tx, webhookId);
}

/** Suspends in batches until `untilMs`; the claims suspend the rest. */
export async function suspendWhile(pool: Pool, webhookId: string, untilMs: number): Promise<void> {
  while ((await pool.transaction((tx) => suspendUnclaimed(tx, [webhookId]))) === SUSPENDED_AT_ONCE) {
    if (performance.now() >= untilMs) return;
  }
}

/** Resumes in batches until nothing is suspended; refused when `untilMs` comes first. */
export async function resumeWhile(
  pool: Pool,
  webhookId: string,
  author: Author,
  untilMs: number,
): Promise<Result<'resumed', 'stillSuspended'>> {
  while (await pool.transaction((tx) => resumeBatch(tx, webhookId, author))) {
    if (performance.now() >= untilMs) return { refused: { kind: 'stillSuspended' } };
  }
  return { ok: 'resumed' };
}
