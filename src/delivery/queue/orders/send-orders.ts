/**
 * Who had deliveries sent that no event made due: each resend, test and resumption logs its author, append-only, in the transaction that
 * makes them due.
 */
import type { SendOrder } from '../../../contract/statuses.ts';
import type { Tx } from '../../../db/pool.ts';

export interface Author {
  /** `sub` of the token, or the operator's name. */
  readonly actor: string;
  readonly requestId: string | null;
  /** An operator's; partners give none. */
  readonly reason?: string | null;
}

export async function logSendOrder(
  tx: Tx,
  kind: SendOrder,
  webhookId: string,
  deliveryIds: readonly string[],
  { actor, requestId, reason = null }: Author,
): Promise<void> {
  await tx`
    insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, reason, request_id)
    select ${kind}, id, partner_id, ${deliveryIds as string[]}::uuid[], ${actor}, ${reason}, ${requestId}::uuid
    from webhooks where id = ${webhookId}`;
}
