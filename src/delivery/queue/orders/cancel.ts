/**
 * Cancelling: an operator ends a pending or suspended delivery as `erro`, because a partner that resumes its webhook would bring a
 * `suspensa` one back. The partner can still ask for it by its id.
 * Invariant: the order with author and reason commits with the end. A delivery in flight is refused: its POST may be arriving now. A claim
 * whose lease is over is ended with it, and its attempt logged as lost. A late success still counts.
 */
import { NOT_FOUND, type Result } from '../../../contract/refusals.ts';
import type { DELIVERY_STATUSES } from '../../../contract/statuses.ts';
import type { Tx } from '../../../db/pool.ts';
import { logLostAttempts, readInFlight } from '../rescuer.ts';
import { type Author, logSendOrder } from './send-orders.ts';

type Status = (typeof DELIVERY_STATUSES)[number];

/** A refused delivery stays unchanged. */
export async function cancelDelivery(
  tx: Tx,
  id: string,
  author: Author,
): Promise<Result<true, 'notFound' | 'deliveryInFlight' | 'deliveryOver'>> {
  const [row] = await tx<{ webhookId: string; partnerId: string; status: Status }[]>`
    select webhook_id as "webhookId", partner_id as "partnerId", status from deliveries where id = ${id} for update`;
  if (row === undefined) return NOT_FOUND;
  const { status } = row;
  if ((await readInFlight(tx, [id])).has(id)) return { refused: { kind: 'deliveryInFlight' } };
  if (status !== 'pendente' && status !== 'suspensa') return { refused: { kind: 'deliveryOver', status } };
  await logLostAttempts(tx, [id]);
  await tx`
    update deliveries
    set status = 'erro', next_attempt_at = null, finished_at = clock_timestamp()
    where id = ${id} and partner_id = ${row.partnerId}`;
  await logSendOrder(tx, 'cancelamento', row.webhookId, [id], author);
  return { ok: true };
}
