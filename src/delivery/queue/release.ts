import type { Tx } from '../../db/pool.ts';
import { logSendOrder } from './orders/send-orders.ts';

/** Takes unsent deliveries out of a claim: the attempt never happened, so its number is used again. */
export async function withdraw(tx: Tx, poller: string, number: number, ids: readonly string[]): Promise<void> {
  await tx`
    update claims c
    set (ids, numbers) = (
      select coalesce(array_agg(id), '{}'), coalesce(array_agg(number), '{}')
      from unnest(c.ids, c.numbers) as each (id, number)
      where id <> all (${ids as string[]}::uuid[])
    )
    where c.poller = ${poller} and c.number = ${number}`;
}

/** Postpones one that a fault of ours kept from being sent, by `delayS`. False when its attempt is over. */
export async function putOff(
  tx: Tx,
  { id, number }: { readonly id: string; readonly number: number },
  delayS: number,
  now: Date | null = null,
): Promise<boolean> {
  const { count } = await tx`
    update deliveries
    set next_attempt_at = coalesce(${now}::timestamptz, now()) + ${delayS} * interval '1 second'
    where id = ${id} and status = 'pendente' and attempts = ${number} - 1`;
  return count === 1;
}

/** Stores why a delivery was given back: a fault of ours, at most {@link MAX_REASON} characters. */
export async function noteSendFault(tx: Tx, webhookId: string, reason: string): Promise<void> {
  await tx`
    insert into send_faults as known (webhook_id, reason) values (${webhookId}, ${reason.slice(0, MAX_REASON)})
    on conflict (webhook_id) do update
    set reason = excluded.reason, at = now(),
        since = case when known.at > now() - interval '3 minutes' then known.since else now() end`;
}

const MAX_REASON = 500;

/**
 * Ends a claimed delivery whose event cannot be sent: `erro`, with the reason in an order of the service's own. `what` is the event's
 * fault. Returns the event's id; null when the attempt is over.
 */
export async function endUnsent(
  tx: Tx,
  { id, number }: { readonly id: string; readonly number: number },
  what: 'é ilegível' | 'foi apagado',
): Promise<string | null> {
  const [ended] = await tx<{ webhookId: string; eventId: string }[]>`
    update deliveries
    set status = 'erro', next_attempt_at = null, finished_at = clock_timestamp()
    where id = ${id} and status = 'pendente' and attempts = ${number} - 1
    returning webhook_id as "webhookId", event_id as "eventId"`;
  if (ended === undefined) return null;
  const author = { actor: 'servico', requestId: null, reason: `o evento ${ended.eventId} ${what}` };
  await logSendOrder(tx, 'cancelamento', ended.webhookId, [id], author);
  return ended.eventId;
}
