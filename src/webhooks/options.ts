/** The options of a webhook, each change with its line of history. */
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import type { DeliveryOrder } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { setInOrder } from '../delivery/queue/orders/loan-order.ts';
import { lockWebhook, type Subject, writeHistory } from './history.ts';

export interface Options {
  readonly order: DeliveryOrder;
}

/** Null when the partner has no webhook of that id. */
export async function readOptions(pool: Pool, partnerId: string, id: string): Promise<Options | null> {
  const [lane] = await pool.run(
    (sql) => sql<{ inOrder: boolean }[]>`
      select in_order as "inOrder" from lanes
      where webhook_id = ${id} and partner_id = ${partnerId} order by version desc limit 1`,
  );
  return lane === undefined ? null : { order: lane.inOrder ? 'por_emprestimo' : 'nenhuma' };
}

/** Sets the options of a webhook, active or not; what is set already leaves no trace. */
export async function setOptions(tx: Tx, subject: Subject, { order }: Options): Promise<Result<'set', 'notFound'>> {
  const webhook = await lockWebhook(tx, subject);
  if (webhook === null) return NOT_FOUND;
  const isChanged = await setInOrder(tx, subject.id, order === 'por_emprestimo');
  if (isChanged) await writeHistory(tx, subject, webhook, `ordem_${order}`);
  return { ok: 'set' };
}
