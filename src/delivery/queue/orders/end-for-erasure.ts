/**
 * Ends the unsent deliveries of events that are about to be erased: `erro`, with the reason in an order of the service's own. Events of
 * other workers, which only lose a CPF, are still sent.
 * Invariant: it commits with the erasure, on deliveries whose rows of `pending` it holds, so no claim takes one in between. A claim whose
 * lease is over is ended with it, and its attempt logged as lost.
 */
import type { Tx } from '../../../db/pool.ts';
import { logLostAttempts, readInFlight } from '../rescuer.ts';
import { logSendOrder } from './send-orders.ts';

/** `own`: those of `eventIds` that are erased whole. Returns false and changes nothing while any of them is in flight. */
export async function endForErasure(
  tx: Tx,
  eventIds: readonly string[],
  own: readonly string[],
  orderId: string,
): Promise<boolean> {
  const rows = await tx<{ id: string; webhookId: string; isOpen: boolean }[]>`
    select d.id, d.webhook_id as "webhookId",
           d.status in ('pendente', 'suspensa') and d.event_id = any (${own as string[]}::uuid[]) as "isOpen"
    from deliveries d
    where d.id = any (array(
      select d.id
      from events e
      join webhooks w on w.partner_id = e.partner_id
      join deliveries d on d.webhook_id = w.id and d.event_id = e.id
      where e.id = any (${eventIds as string[]}::uuid[])))
    order by d.id
    for update`;
  const flying = await readInFlight(
    tx,
    rows.map(({ id }) => id),
  );
  if (flying.size > 0) return false;
  const open = rows.filter(({ isOpen }) => isOpen);
  if (open.length === 0) return true;
  const ids = open.map(({ id }) => id);
  await logLostAttempts(tx, ids);
  await tx`
    update deliveries
    set status = 'erro', next_attempt_at = null, finished_at = clock_timestamp()
    where id = any (${ids}::uuid[])`;
  const reason = `os dados do evento foram apagados pelo pedido ${orderId}`;
  for (const [webhookId, own] of Map.groupBy(open, (row) => row.webhookId)) {
    await logSendOrder(
      tx,
      'cancelamento',
      webhookId,
      own.map(({ id }) => id),
      { actor: 'servico', requestId: null, reason },
    );
  }
  return true;
}
