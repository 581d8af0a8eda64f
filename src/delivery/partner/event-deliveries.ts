import { ATTEMPTS_SHOWN, type DeliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import type { Pool } from '../../db/pool.ts';
import { readDelivery } from './read-deliveries.ts';

/** The deliveries of one event by id, with their newest attempts: {@link ATTEMPTS_SHOWN} in all, at most. */
export async function readEventDeliveries(
  pool: Pool,
  partnerId: string,
  eventId: string,
): Promise<DeliveryWithAttempts[]> {
  const ids = await pool.run(
    (sql) => sql<{ id: string }[]>`
      select id from deliveries
      where webhook_id = any (array(select w.id from webhooks w where w.partner_id = ${partnerId}))
        and partner_id = ${partnerId} and event_id = ${eventId}
      order by id`,
  );
  const wanted = { before: null, most: Math.floor(ATTEMPTS_SHOWN / Math.max(1, ids.length)) };
  const found = await Promise.all(ids.map(({ id }) => readDelivery(pool, partnerId, id, wanted)));
  return found.flatMap((one) => (one === null ? [] : [Object.assign(one.delivery, { tentativas: one.attempts })]));
}
