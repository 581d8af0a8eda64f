/** The options of a webhook, each change with its line of history. */
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import type { DeliveryOrder } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { setInOrder } from '../delivery/queue/orders/loan-order.ts';
import { lockWebhook, type Subject, writeHistory } from './history.ts';

export interface Options {
  readonly order: DeliveryOrder;
  readonly label: string | null;
}

/** Null when the partner has no webhook of that id. */
export async function readOptions(pool: Pool, partnerId: string, id: string): Promise<Options | null> {
  const [row] = await pool.run(
    (sql) => sql<{ inOrder: boolean; label: string | null }[]>`
      select l.in_order as "inOrder", w.label from lanes l join webhooks w on w.id = l.webhook_id
      where l.webhook_id = ${id} and l.partner_id = ${partnerId}`,
  );
  return row === undefined ? null : { order: row.inOrder ? 'por_emprestimo' : 'nenhuma', label: row.label };
}

/** Sets those options of a webhook that are given, active or not; an order that is set already leaves no trace, nor does a label. */
export async function setOptions(
  tx: Tx,
  subject: Subject,
  { order, label }: { readonly order: DeliveryOrder | undefined; readonly label: string | null | undefined },
): Promise<Result<'set', 'notFound'>> {
  const webhook = await lockWebhook(tx, subject);
  if (webhook === null) return NOT_FOUND;
  const isChanged = order !== undefined && (await setInOrder(tx, subject.id, order === 'por_emprestimo'));
  if (isChanged) await writeHistory(tx, subject, webhook, `ordem_${order}`);
  if (label !== undefined) await tx`update webhooks set label = ${label} where id = ${subject.id}`;
  return { ok: 'set' };
}
