/**
 * The pending deliveries of a webhook when its partner deactivates or resumes it (contract, section 2).
 *
 * Each function works one batch a transaction until nothing is left or its time is up. A crash between two batches loses
 * nothing: a deactivation has left an arrival, so the pollers suspend the rest (queue/orders/suspend.ts); a resumption is
 * repeated by the partner, who was answered 503.
 */
import type { Result } from '../../contract/refusals.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { insertArrivals } from '../queue/arrivals.ts';
import { type Author, logSendOrder } from '../queue/orders/send-orders.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../queue/orders/suspend.ts';

const RESUMED_AT_ONCE = 1_000;

/** Makes up to a batch of an active webhook's suspended deliveries due now, their spent slots spent; returns how many. */
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
