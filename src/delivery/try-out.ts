/**
 * The test delivery: a signed `webhook.teste` to one registration, through the same tables and pollers as any other.
 *
 * It has a row in the log, on a stream of its own, so that its evidence is sealed as any other's. Its type is not in the
 * catalog: feed, balance and projections pass it over. It keeps the schedule of every delivery: a test that fails is tried again.
 * Waiting for its outcome is short reads with pauses in between, so no connection is held however long it takes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_NAME } from '../contract/delivery.ts';
import type { DeliveryWithAttempts } from '../contract/delivery-resource.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { readDelivery } from './read-deliveries.ts';
import { type Author, logSendOrder } from './send-orders.ts';

const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 500;

/** Makes the test delivery; returns its id, or why not. */
export async function makeTestDelivery(
  tx: Tx,
  partnerId: string,
  webhookId: string,
  author: Author,
): Promise<{ readonly id: string } | 'inactive' | null> {
  const [webhook] = await tx<{ active: boolean }[]>`
    select active from webhooks where id = ${webhookId} and partner_id = ${partnerId} for share`;
  if (webhook === undefined) return null;
  if (!webhook.active) return 'inactive';
  const data = JSON.stringify({ webhook_id: webhookId, mensagem: 'Entrega de teste, pedida pelo parceiro' });
  const [row] = await tx<[{ id: string }]>`
    select make_test_delivery(${webhookId}, ${partnerId}, ${TEST_NAME}, ${data}::text::json, ${author.actor}) as id`;
  await logSendOrder(tx, 'teste', webhookId, [row.id], author);
  return row;
}

/** The delivery as soon as its first attempt has an outcome, or as it stands after `waitMs`. */
export async function awaitOutcome(
  pool: Pool,
  partnerId: string,
  id: string,
  waitMs: number,
): Promise<{ readonly delivery: DeliveryWithAttempts; readonly isOver: boolean }> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LAST_PAUSE_MS)) {
    const delivery = await readDelivery(pool, partnerId, id);
    if (delivery === null) throw new Error('the test delivery is gone');
    const isOver = delivery.status !== 'pendente' || delivery.tentativas.length > 0;
    if (isOver || performance.now() >= endMs) return { delivery, isOver };
    await sleep(pauseMs);
  }
}
