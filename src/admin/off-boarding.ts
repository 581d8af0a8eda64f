/**
 * Deactivates and reactivates a partner.
 * Invariant: after the commit of a deactivation no delivery of the partner is claimed (suspend_partner.sql). After the
 * deliveries in flight have ended, no POST follows; failed ones are pending again. Pending deliveries are suspended in batches:
 * here, by keepers, or by the sweep. After a crash between batches, keepers and the sweep suspend the rest.
 * {@link reactivatePartner} sends only new events: it suspends the rest before the partner is active. A plain
 * `update partners set active = true` does not, and so sends the deliveries that are still pending.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { FLIGHT_MS, countInFlight } from '../delivery/queue/orders/lane.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../delivery/queue/orders/suspend.ts';
import type { Operator } from '../webhooks/muting.ts';
import { readWebhookIds } from '../webhooks/webhooks.ts';
import { changePartner, lockPartner } from './partners.ts';

/** Each batch locks every webhook whose deliveries it may suspend. */
const HOOKS_AT_ONCE = 100;
const CHECK_EVERY_MS = 200;

/** What is in flight ends by itself, within a lease ({@link untilGone} waits for it). */
export async function deactivatePartner(
  tx: Tx,
  id: string,
  { actor, reason }: Operator,
): Promise<Result<true, 'notFound' | 'partnerInactive'>> {
  const [row] = await tx<[{ wasActive: boolean | null }]>`
    select deactivate_partner(${id}, ${actor}, ${reason}) as "wasActive"`;
  if (row.wasActive === null) return NOT_FOUND;
  return row.wasActive ? { ok: true } : { refused: { kind: 'partnerInactive' } };
}

/** Suspends what is left, waits until nothing is in flight, and suspends what came back of that. */
export async function untilGone(
  pool: Pool,
  id: string,
  report: (sentence: string) => void,
): Promise<{ readonly suspended: number; readonly wereInFlight: number }> {
  const hooks = await pool.run((sql) => readWebhookIds(sql, id));
  await suspendRest(pool, hooks, report);
  const wereInFlight = await untilLanded(pool, hooks, report);
  await suspendRest(pool, hooks, report);
  return pool.transaction(async (tx) => {
    // Batches of pollers are skipped above. The lock waits for their end; what one of them gave back is suspended here.
    await lockPartner(tx, id);
    while ((await suspendUnclaimed(tx, hooks)) === SUSPENDED_AT_ONCE);
    return { suspended: await countSuspended(tx, hooks), wereInFlight };
  });
}

/** Returns how many of the partner's deliveries stay suspended. */
export async function reactivatePartner(
  pool: Pool,
  id: string,
  operator: Operator,
): Promise<Result<{ readonly suspended: number }, 'notFound' | 'partnerActive'>> {
  const hooks = await pool.run((sql) => readWebhookIds(sql, id));
  await suspendRest(pool, hooks, () => undefined);
  const result = await pool.transaction<Result<true, 'notFound' | 'partnerActive'>>(async (tx) => {
    const before = await lockPartner(tx, id);
    if (before === null) return NOT_FOUND;
    if (before.active) return { refused: { kind: 'partnerActive' } };
    // Batches skip a webhook that is being changed, so this waits until all are free. No deadlock: whoever changes a webhook locks its
    // partner first, or never.
    await tx`select from webhooks where partner_id = ${id} order by id for share`;
    // The partner's lock has waited for others' batches. Left are later failures and skipped webhooks.
    while ((await suspendUnclaimed(tx, hooks)) === SUSPENDED_AT_ONCE);
    await changePartner(tx, id, { active: true }, operator);
    return { ok: true };
  });
  return 'refused' in result ? result : { ok: { suspended: await pool.run((sql) => countSuspended(sql, hooks)) } };
}

/** Suspends in batches until only flights are left. Webhooks of an active partner are skipped. */
async function suspendRest(pool: Pool, hooks: readonly string[], report: (sentence: string) => void): Promise<void> {
  let suspended = 0;
  for (let at = 0; at < hooks.length; at += HOOKS_AT_ONCE) {
    const some = hooks.slice(at, at + HOOKS_AT_ONCE);
    let batch: number;
    do {
      batch = await pool.transaction((tx) => suspendUnclaimed(tx, some));
      suspended += batch;
      if (batch > 0) report(`${suspended} deliveries more are suspensa`);
    } while (batch === SUSPENDED_AT_ONCE);
  }
}

async function countSuspended(sql: Tx, hooks: readonly string[]): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::float8 as count
    from deliveries where webhook_id = any (${hooks as string[]}::uuid[]) and status = 'suspensa'`;
  return row.count;
}

/**
 * Waits until nothing of these webhooks is in flight, for FLIGHT_MS at most: by then every POST under way has ended. Returns how many were.
 * `report` gets a sentence at each look.
 */
export async function untilLanded(
  pool: Pool,
  webhookIds: readonly string[],
  report: (sentence: string) => void,
): Promise<number> {
  const startedMs = performance.now();
  let waitedFor = 0;
  for (;;) {
    const count = await pool.run((sql) => countInFlight(sql, webhookIds));
    waitedFor = Math.max(waitedFor, count);
    const passedMs = performance.now() - startedMs;
    if (count === 0 || passedMs > FLIGHT_MS) return waitedFor;
    report(`${count} deliveries are in flight; the last ends in ${Math.ceil((FLIGHT_MS - passedMs) / 1_000)} s`);
    await sleep(CHECK_EVERY_MS);
  }
}
