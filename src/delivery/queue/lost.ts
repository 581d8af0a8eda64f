/**
 * Lost attempts: a claim whose poller never reported.
 *
 * Invariant: every POST that may have left has an attempt row. Whoever ends another's claim (the poller whose claim finds
 * that its lease is over, a late success, a suspension, a resend) writes the row `desconhecido` for it in that same
 * transaction, on deliveries that it has locked. If the lost poller reports after all, its report becomes a second row,
 * marked late.
 * Crash: both a lost claim and an ended one keep their lane due, so the next claim on it finds them. A saturated lane is
 * instead woken when a slot is freed.
 * Lost claims are ended beside the claims. We tried ending them inside the claim: each claim of one delivery paid 10 % for a
 * case that hardly ever occurs.
 */
import type { Tx } from '../../db/pool.ts';
import { insertArrivals } from './arrivals.ts';
import { LOST_IN_ROW_BOOKS_FAILURE } from './lease.ts';

/** The most claims that one transaction ends; the rest is found again. */
const BATCH = 1_000;

/**
 * Writes the `desconhecido` row of each of these locked deliveries that is claimed; `partnerIds` names the partner of each. The URL
 * is the one that its claim read, which the webhook may have changed since.
 */
export async function logLostAttempts(
  tx: Tx,
  deliveryIds: readonly string[],
  partnerIds: readonly string[],
): Promise<void> {
  await tx`
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, started_at, url, claim)
    select d.id, d.attempts, d.event_id, d.webhook_id, d.partner_id, 'desconhecido', d.claimed_at,
           coalesce(
             (select h.url from webhook_history h
              where h.webhook_id = d.webhook_id and h.partner_id = d.partner_id and h.changed_at <= d.claimed_at
              order by h.position desc limit 1),
             (select w.url from webhooks w where w.id = d.webhook_id and w.partner_id = d.partner_id)),
           d.claimed_by
    from deliveries d
    where d.id = any (${deliveryIds as string[]}::uuid[]) and d.partner_id = any (${partnerIds as string[]}::uuid[])
      and d.claimed_by is not null
    on conflict do nothing`;
}

/**
 * Ends the claims on these deliveries whose leases are over, at most a batch: the deliveries are due at once, with no slot
 * spent. The fifth loss in a row books a failure instead, so that a receiver that makes pollers die is not tried for ever, and
 * so does the first of a test, which is tried once.
 * Returns how many it ended; deliveries that another transaction has locked are left to that.
 */
export async function endLostClaims(tx: Tx, deliveryIds: readonly string[], now: Date | null = null): Promise<number> {
  const rows = await tx<{ id: string; partnerId: string }[]>`
    select id, partner_id as "partnerId"
    from deliveries
    where id = any (${deliveryIds as string[]}::uuid[])
      and claimed_at <= coalesce(${now}::timestamptz, now()) - lease()
    order by id
    limit ${BATCH}
    for update skip locked`;
  await endLocked(tx, rows, now);
  return rows.length;
}

/** A delivery, and the claim that it is held by. */
export interface HeldDelivery {
  readonly id: string;
  readonly claim: string;
}

/**
 * Ends these claims, whose leases the caller knows to be over although the clock says otherwise. Their deliveries may be due
 * in the clock's future; they are due now, and their lanes look at everything again. Returns how many it ended.
 */
export async function endClaims(tx: Tx, held: readonly HeldDelivery[], now: Date | null = null): Promise<number> {
  const rows = await tx<{ id: string; webhookId: string; partnerId: string }[]>`
    select d.id, d.webhook_id as "webhookId", d.partner_id as "partnerId"
    from unnest(${held.map(({ id }) => id)}::uuid[], ${held.map(({ claim }) => claim)}::text[]) as held (id, claim)
    join deliveries d on d.id = held.id and d.claimed_by = held.claim
    order by d.id
    limit ${BATCH}
    for update of d skip locked`;
  await endLocked(tx, rows, now);
  await insertArrivals(
    tx,
    rows.map((row) => row.webhookId),
  );
  return rows.length;
}

/** Ends the claims on these locked deliveries. */
async function endLocked(
  tx: Tx,
  rows: readonly { readonly id: string; readonly partnerId: string }[],
  now: Date | null,
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map((row) => row.id);
  const partnerIds = rows.map((row) => row.partnerId);
  await logLostAttempts(tx, ids, partnerIds);
  await tx`
    update deliveries d
    set claimed_by = null,
        claimed_at = null,
        lost_in_row = case when lost.is_spent then null else coalesce(d.lost_in_row, 0) + 1 end,
        failures = d.failures + lost.is_spent::int,
        status = case when lost.is_over then 'erro' else 'pendente' end,
        next_attempt_at = case when lost.is_spent then lost.next_slot else least(d.next_attempt_at, lost.now) end,
        finished_at = case when lost.is_over then lost.now end
    from (
      select id, partner_id, now, is_spent, next_slot, is_spent and next_slot is null as is_over
      from (
        select id, partner_id, t.now, is_test is true or coalesce(lost_in_row, 0) + 1 >= ${LOST_IN_ROW_BOOKS_FAILURE} as is_spent,
               next_slot(deliveries, t.now) as next_slot
        from deliveries, (select coalesce(${now}::timestamptz, now()) as now) t
        where id = any (${ids}::uuid[]) and partner_id = any (${partnerIds}::uuid[])
      ) ended
    ) lost
    where d.id = lost.id and d.partner_id = lost.partner_id`;
}

/**
 * Ends every claim there is, whatever its time: of a database that was copied, whose pollers stayed behind with the other
 * server, and whose clock may have been ahead. It waits for deliveries that others have locked: {@link endClaims} passes them
 * over, so it would find the same ones for ever. Returns how many it ended.
 */
export async function endClaimsOfThePast(tx: Tx): Promise<number> {
  for (let ended = 0; ;) {
    const held = await tx<HeldDelivery[]>`
      select id, claimed_by as claim
      from deliveries where status = 'pendente' and claimed_by is not null order by id limit ${BATCH}
      for update`;
    if (held.length === 0) return ended;
    ended += await endClaims(tx, held);
  }
}
