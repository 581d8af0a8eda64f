/**
 * A partner is let go, and comes back.
 *
 * Invariant: after the commit of a deactivation nothing of the partner is claimed (suspend_partner.sql). Once the
 * deliveries in flight have landed, not one POST follows. Those of them that fail are pending again; they are
 * suspended here, or by the next claim that finds them.
 */
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../delivery/queue/orders/suspend.ts';
import type { Operator } from '../webhooks/muting.ts';
import { untilLanded } from './landing.ts';
import { changePartner, lockPartner } from './partners.ts';

/** Lets a partner go; what is in flight ends by itself, within 45 s ({@link untilGone} waits for it). */
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

/** Waits until nothing of a deactivated partner is in flight, and suspends what came back; `tell` as in {@link untilLanded}. */
export async function untilGone(
  pool: Pool,
  id: string,
  tell: (sentence: string) => void,
): Promise<{ readonly suspended: number; readonly wereInFlight: number }> {
  const hooks = await pool.run((sql) => readHooks(sql, id));
  const wereInFlight = await untilLanded(pool, hooks, tell);
  while ((await pool.transaction((tx) => suspendUnclaimed(tx, hooks))) === SUSPENDED_AT_ONCE);
  return { suspended: await pool.run((sql) => countSuspended(sql, hooks)), wereInFlight };
}

/** Lets a partner back in; answers how many of its deliveries stay suspended. */
export async function reactivatePartner(
  tx: Tx,
  id: string,
  operator: Operator,
): Promise<Result<{ readonly suspended: number }, 'notFound' | 'partnerActive'>> {
  const before = await lockPartner(tx, id);
  if (before === null) return NOT_FOUND;
  if (before.active) return { refused: { kind: 'partnerActive' } };
  await changePartner(tx, id, { active: true }, operator);
  return { ok: { suspended: await countSuspended(tx, await readHooks(tx, id)) } };
}

async function readHooks(sql: Tx, partnerId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from webhooks where partner_id = ${partnerId} order by id`;
  return rows.map(({ id }) => id);
}

async function countSuspended(sql: Tx, hooks: readonly string[]): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::float8 as count
    from deliveries where webhook_id = any (${hooks as string[]}::uuid[]) and status = 'suspensa'`;
  return row.count;
}
