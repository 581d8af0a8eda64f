/**
 * Suspension: a deactivated registration is not sent, and what waited for it becomes `suspensa`; re-activated, it may be
 * resumed where its schedule stood. A registration of a deactivated partner is inactive, too; what is pending of it is
 * suspended by the deactivation itself (trigger `partners_suspend_deliveries`), and the rest as below.
 *
 * Invariant: a pending delivery of a registration that stays inactive is suspended sooner or later, whoever crashes.
 * The deactivation leaves an arrival; the poller whose claim finds the lane inactive suspends a batch beside it, and leaves
 * another arrival while batches come back full. What an append that was open during the deactivation still adds brings its
 * own arrival.
 * Deliveries in flight are left to end: a failure makes them pending again, which the lane's next turn finds.
 * Each batch holds its registrations and their partners in share mode, so that it cannot suspend what a re-activation has
 * just resumed; it skips those that are being changed.
 */
import type { Pool, Tx } from '../db/pool.ts';
import { insertArrivals } from './arrivals.ts';
import { LEASE_S } from './lease.ts';
import { logLostAttempts } from './lost.ts';
import { type Author, logSendOrder } from './send-orders.ts';

const BATCH = 1_000;

/** Suspends up to a batch of these inactive registrations' deliveries that are not in flight; returns how many. */
export async function suspendUnclaimed(
  tx: Tx,
  webhookIds: readonly string[],
  now: Date | null = null,
): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    with clock as materialized (
      select coalesce(${now}::timestamptz, now()) as now
    ),
    closed as materialized (
      select w.id
      from webhooks w
      join partners p on p.id = w.partner_id
      where w.id = any (${webhookIds as string[]}::uuid[]) and not (w.active and p.active)
      for share skip locked
    )
    select unclaimed.id
    from clock, closed
    cross join lateral (
      select d.id from deliveries d
      where d.webhook_id = closed.id and d.status = 'pendente'
        and (d.claimed_at is null or d.claimed_at <= clock.now - ${LEASE_S} * interval '1 second')
      order by d.next_attempt_at
      limit ${BATCH}
      for update skip locked
    ) unclaimed
    limit ${BATCH}`;
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  await logLostAttempts(tx, ids);
  await tx`
    update deliveries
    set status = 'suspensa', next_attempt_at = null, claimed_by = null, claimed_at = null
    where id = any (${ids}::uuid[])`;
  if (rows.length === BATCH) await insertArrivals(tx, webhookIds);
  return rows.length;
}

/** Makes up to a batch of an active registration's suspended deliveries due now, their spent slots spent; returns how many. */
async function resumeBatch(tx: Tx, webhookId: string, author: Author): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    with open as materialized (
      select id from webhooks where id = ${webhookId} and active for share
    )
    select suspended.id
    from open
    cross join lateral (
      select d.id from deliveries d
      where d.webhook_id = open.id and d.status = 'suspensa'
      order by d.event_id
      limit ${BATCH}
      for update
    ) suspended`;
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  await tx`
    update deliveries set status = 'pendente', next_attempt_at = now()
    where id = any (${ids}::uuid[])`;
  await logSendOrder(tx, 'retomada', webhookId, ids, author);
  await insertArrivals(tx, [webhookId]);
  return rows.length;
}

/** Suspends, a batch a transaction, until nothing is left or `untilMs` has come; the claims go on with the rest. */
export async function suspendWhile(pool: Pool, webhookId: string, untilMs: number): Promise<void> {
  while ((await pool.transaction((tx) => suspendUnclaimed(tx, [webhookId]))) === BATCH) {
    if (performance.now() >= untilMs) return;
  }
}

/** Resumes, a batch a transaction; false when `untilMs` came before everything was resumed. */
export async function resumeWhile(pool: Pool, webhookId: string, author: Author, untilMs: number): Promise<boolean> {
  while ((await pool.transaction((tx) => resumeBatch(tx, webhookId, author))) === BATCH) {
    if (performance.now() >= untilMs) return false;
  }
  return true;
}
