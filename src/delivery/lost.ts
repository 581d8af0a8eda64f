/**
 * Lost attempts: a claim whose poller never reported.
 *
 * Invariant: every POST that may have left has an attempt row. Whoever ends another's claim (the poller whose claim finds
 * that its lease is over, a late success, a suspension, a resend) writes the row `desconhecido` for it in that same
 * transaction, on deliveries that it has locked. If the lost poller reports after all, its report becomes a second row,
 * marked late.
 * Crash: what was lost keeps its lane due, and so does what is ended (unless the lane is saturated: then a place that comes
 * free); the next claim on the lane finds either.
 * Ended apart from the claim, and taken by the next one: done by the claim itself, each claim paid for what is hardly ever
 * there (a tenth of the time of a claim of one).
 */
import { RETRY_DELAYS_S } from '../contract/delivery.ts';
import type { Tx } from '../db/pool.ts';
import { insertArrivals } from './arrivals.ts';
import { LEASE_S, LOST_IN_ROW_BOOKS_FAILURE } from './lease.ts';

/** What one transaction ends at most; the rest is found again. */
const BATCH = 1_000;

/**
 * Writes the `desconhecido` row of each of these locked deliveries that is claimed. The URL is the one that its claim read,
 * which the registration may have changed since.
 */
export async function logLostAttempts(tx: Tx, deliveryIds: readonly string[]): Promise<void> {
  await tx`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim)
    select d.id, d.attempts, d.webhook_id, d.partner_id, 'desconhecido', d.claimed_at,
           coalesce(
             (select h.url from webhook_history h
              where h.webhook_id = d.webhook_id and h.changed_at <= d.claimed_at
              order by h.position desc limit 1),
             (select w.url from webhooks w where w.id = d.webhook_id)),
           d.claimed_by
    from deliveries d
    where d.id = any (${deliveryIds as string[]}::uuid[]) and d.claimed_by is not null
    on conflict do nothing`;
}

/**
 * Ends those claims on these deliveries whose leases are over, a batch of them: they are due at once, with no slot spent. Of
 * those that were lost so often in a row that a receiver which makes pollers die must not be tried for ever, a failure is
 * booked instead. Returns how many it ended; what another transaction holds is left to it.
 */
export async function endLostClaims(
  tx: Tx,
  deliveryIds: readonly string[],
  now: Date | null = null,
  leaseS = LEASE_S,
): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select id
    from deliveries
    where id = any (${deliveryIds as string[]}::uuid[])
      and claimed_at <= coalesce(${now}::timestamptz, now()) - ${leaseS} * interval '1 second'
    order by id
    limit ${BATCH}
    for update skip locked`;
  const ids = rows.map((row) => row.id);
  await endLocked(tx, ids, now);
  return ids.length;
}

/** A delivery, and the claim that it is held by. */
export interface HeldDelivery {
  readonly id: string;
  readonly claim: string;
}

/**
 * Ends these claims, whose leases the caller knows to be over although the clock does not say so. What they held may be due
 * at a time that is yet to come: it is due now, and its lanes look at everything again. Returns how many it ended.
 */
export async function endClaims(tx: Tx, held: readonly HeldDelivery[], now: Date | null = null): Promise<number> {
  const rows = await tx<{ id: string; webhookId: string }[]>`
    select d.id, d.webhook_id as "webhookId"
    from unnest(${held.map(({ id }) => id)}::uuid[], ${held.map(({ claim }) => claim)}::text[]) as held (id, claim)
    join deliveries d on d.id = held.id and d.claimed_by = held.claim
    order by d.id
    limit ${BATCH}
    for update of d skip locked`;
  await endLocked(
    tx,
    rows.map((row) => row.id),
    now,
  );
  await insertArrivals(
    tx,
    rows.map((row) => row.webhookId),
  );
  return rows.length;
}

/** Ends the claims on these locked deliveries. */
async function endLocked(tx: Tx, ids: readonly string[], now: Date | null): Promise<void> {
  if (ids.length === 0) return;
  await logLostAttempts(tx, ids);
  await tx`
    update deliveries d
    set claimed_by = null,
        claimed_at = null,
        lost_in_row = case when lost.is_spent then 0 else d.lost_in_row + 1 end,
        failures = d.failures + lost.is_spent::int,
        status = case when lost.is_over then 'erro' else 'pendente' end,
        next_attempt_at = case when lost.is_spent then lost.next_slot else least(d.next_attempt_at, lost.now) end,
        finished_at = case when lost.is_over then lost.now end
    from (
      select id, now, is_spent, next_slot, is_spent and next_slot is null as is_over
      from (
        select id, t.now, lost_in_row + 1 >= ${LOST_IN_ROW_BOOKS_FAILURE} as is_spent,
               t.now + (${[...RETRY_DELAYS_S]}::int[])[failures + 1] * interval '1 second' as next_slot
        from deliveries, (select coalesce(${now}::timestamptz, now()) as now) t
        where id = any (${ids as string[]}::uuid[])
      ) ended
    ) lost
    where d.id = lost.id`;
}

/**
 * Ends every claim there is: of a database that was copied, whose pollers stayed behind with the other server. Its clock may
 * have been ahead, by a century at most. Returns how many it ended.
 */
export async function endClaimsOfThePast(tx: Tx): Promise<number> {
  const inNoLease = -100 * 365 * 86_400;
  for (let ended = 0; ;) {
    const claimed = await tx<{ id: string }[]>`
      select id from deliveries where status = 'pendente' and claimed_by is not null order by id limit ${BATCH}`;
    if (claimed.length === 0) return ended;
    const ids = claimed.map(({ id }) => id);
    ended += await endLostClaims(tx, ids, null, inNoLease);
  }
}
