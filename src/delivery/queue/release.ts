/** Giving claimed deliveries back unsent: the attempt never happened, so its number is used again. */
import type { Tx } from '../../db/pool.ts';
import { insertArrivals } from './arrivals.ts';
import { logSendOrder } from './orders/send-orders.ts';

/** Releases those of the claim's deliveries that nothing was sent of; they are due `delayS` from now. */
export async function releaseDeliveries(
  tx: Tx,
  claim: string,
  deliveryIds: readonly string[],
  delayS = 0,
  now: Date | null = null,
): Promise<number> {
  const rows = await tx<{ webhookId: string }[]>`
    with held as materialized (
      select id from deliveries
      where id = any (${deliveryIds as string[]}::uuid[]) and claimed_by = ${claim}
      order by id
      for update
    )
    update deliveries d
    set attempts = d.attempts - 1, claimed_by = null, claimed_at = null,
        next_attempt_at = coalesce(${now}::timestamptz, now()) + ${delayS} * interval '1 second'
    from held
    where d.id = held.id
    returning d.webhook_id as "webhookId"`;
  await insertArrivals(
    tx,
    rows.map((row) => row.webhookId),
  );
  return rows.length;
}

/** Keeps why a delivery was given back: a fault of ours, at most {@link MAX_REASON} characters of it. */
export async function noteSendFault(tx: Tx, webhookId: string, deliveryId: string, reason: string): Promise<void> {
  await tx`
    insert into send_faults as known (webhook_id, delivery_id, reason) values (${webhookId}, ${deliveryId}, ${reason.slice(0, MAX_REASON)})
    on conflict (webhook_id) do update
    set delivery_id = excluded.delivery_id, reason = excluded.reason, at = now(),
        since = case when known.at > now() - interval '3 minutes' then known.since else now() end`;
}

const MAX_REASON = 500;

/**
 * Ends one of the claim's deliveries, whose event cannot be sent: `erro`, with the reason in an order of the service's own. `what`:
 * what is the matter with the event. Returns the event's id; null when the claim is over.
 */
export async function endUnsent(
  tx: Tx,
  claim: string,
  deliveryId: string,
  what: 'é ilegível' | 'foi apagado',
): Promise<string | null> {
  const [ended] = await tx<{ webhookId: string; eventId: string }[]>`
    update deliveries
    set attempts = attempts - 1, status = 'erro', claimed_by = null, claimed_at = null, next_attempt_at = null,
        finished_at = clock_timestamp()
    where id = ${deliveryId} and claimed_by = ${claim}
    returning webhook_id as "webhookId", event_id as "eventId"`;
  if (ended === undefined) return null;
  const author = { actor: 'servico', requestId: null, reason: `o evento ${ended.eventId} ${what}` };
  await logSendOrder(tx, 'cancelamento', ended.webhookId, [deliveryId], author);
  await insertArrivals(tx, [ended.webhookId]);
  return ended.eventId;
}

/**
 * Releases whatever a claim took whose commit is unknown: its answer never came, so nothing of it was sent. Deliveries that another
 * transaction has locked are left to the next try: the poller makes no claim while it waits here.
 */
export async function releaseClaim(tx: Tx, claim: string, now: Date | null = null): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select held.id
    from lanes l
    cross join lateral (
      select d.id from deliveries d
      where d.webhook_id = l.webhook_id and d.partner_id = l.partner_id and d.status = 'pendente'
        and d.claimed_by = ${claim}
        and d.next_attempt_at between l.scan_from and l.flying_to
      for update skip locked
    ) held
    where l.flying_to is not null`;
  if (rows.length === 0) return 0;
  return releaseDeliveries(
    tx,
    claim,
    rows.map((row) => row.id),
    0,
    now,
  );
}
