/** One delivery as the operator reads and steers it. */
import { masked } from '../contract/masking/masking.ts';
import { ATTEMPTS_SHOWN, type DeliveryWithAttempts } from '../contract/resources/delivery-resource.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { NEWEST } from '../delivery/partner/read-attempts.ts';
import { readDelivery } from '../delivery/partner/read-deliveries.ts';
import type { WebhookLine } from './webhooks.ts';

interface OrderLine {
  readonly orderedAt: Date;
  readonly kind: string;
  readonly actor: string;
  readonly reason: string | null;
}

export interface ShownDelivery extends Omit<Around, 'inOrder'> {
  /** As the partner reads it; `total_tentativas` says whether there are more attempts. */
  readonly delivery: DeliveryWithAttempts;
  /** The `before` of the next older attempts; null at the oldest. */
  readonly olderThan: number | null;
  /** Who resent or cancelled it: the newest {@link ATTEMPTS_SHOWN}, oldest first. */
  readonly orders: readonly OrderLine[];
}

interface Around extends Pick<WebhookLine, 'partnerId' | 'url' | 'active' | 'mutedAt'> {
  /** Each loan's deliveries one at a time, by version. */
  readonly inOrder: boolean;
}

/** Null for an unknown id. */
export async function readAround(sql: Tx, id: string): Promise<Around | null> {
  const [row] = await sql<Around[]>`
    select d.partner_id as "partnerId", w.url, w.active and p.active as active, l.muted_at as "mutedAt",
           l.in_order as "inOrder"
    from deliveries d
    join webhooks w on w.id = d.webhook_id
    join partners p on p.id = d.partner_id
    cross join lateral (select muted_at, in_order from lanes where webhook_id = w.id) l
    where d.id = ${id}`;
  return row === undefined ? null : { ...row, url: masked(row.url) };
}

/** With the newest attempts below number `before` (null: any). Null for an unknown id. */
export async function showDelivery(pool: Pool, id: string, before: number | null): Promise<ShownDelivery | null> {
  const around = await pool.run((sql) => readAround(sql, id));
  const wanted = { ...NEWEST, before: before === null ? null : ([before, false] as const) };
  const found = around === null ? null : await readDelivery(pool, around.partnerId, id, wanted);
  if (around === null || found === null) return null;
  const { older } = found;
  const delivery = { ...found.delivery, tentativas: found.attempts };
  const orders = await pool.run(
    (sql) => sql<OrderLine[]>`
      select ordered_at as "orderedAt", kind, actor, reason from send_orders
      where position = any (array(select position from send_orders where delivery_ids @> array[${id}::uuid]))
        and webhook_id = ${delivery.webhook_id}
      order by position desc limit ${ATTEMPTS_SHOWN}`,
  );
  const { partnerId, url, active, mutedAt } = around;
  // A late attempt has the number of the one logged as lost, which may be on the next page.
  const olderThan = older && older[0] + (older[1] ? 1 : 0);
  return { partnerId, delivery, olderThan, url, active, mutedAt, orders: orders.toReversed() };
}
