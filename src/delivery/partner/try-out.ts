/**
 * The test delivery: a signed `webhook.teste` to one webhook, through the same tables and pollers as any other.
 * Its event has a stream of its own, so its evidence is sealed; its type is not in the catalog, so feed, balance and projections skip it.
 * It bears X-Webhook-Test and is tried once. It may carry another event's example payload under that event's name: the row stays a test's,
 * with the name beside the example, and the view `messages` builds the event. So the log never reports what did not happen.
 * Awaiting the outcome means short reads with pauses, so no connection is held.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_NAME, testData } from '../../contract/delivery.ts';
import type { DeliveryWithAttempts } from '../../contract/resources/delivery-resource.ts';
import { NOT_FOUND, type Result } from '../../contract/refusals.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { readDelivery } from './read-deliveries.ts';
import { type Author, logSendOrder } from '../queue/orders/send-orders.ts';

const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 500;

export interface Example {
  readonly event: string;
  readonly data: object;
}

/** Keeps the catalog's data; the first letter of the first text is written as an escape. */
const exampleData = (data: object) =>
  JSON.stringify(data).replace(/(?<=":")\w/, (first) => `\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}`);

export async function makeTestDelivery(
  tx: Tx,
  partnerId: string,
  webhookId: string,
  example: Example | null,
  author: Author,
): Promise<Result<{ readonly id: string }, 'notFound' | 'webhookInactive' | 'testOfMuted'>> {
  const [webhook] = await tx<{ active: boolean; isMuted: boolean }[]>`
    select active, exists (select from lanes where webhook_id = w.id and muted_at is not null) as "isMuted"
    from webhooks w where id = ${webhookId} and partner_id = ${partnerId} for share`;
  if (webhook === undefined) return NOT_FOUND;
  if (!webhook.active) return { refused: { kind: 'webhookInactive' } };
  if (webhook.isMuted) return { refused: { kind: 'testOfMuted' } };
  const data =
    example === null
      ? testData(webhookId)
      : `{"exemplo_de":${JSON.stringify(example.event)},"data":${exampleData(example.data)}}`;
  const [row] = await tx<[{ id: string }]>`
    select make_test_delivery(${webhookId}, ${partnerId}, ${TEST_NAME}, ${data}::text::json, ${author.actor}) as id`;
  await logSendOrder(tx, 'teste', webhookId, [row.id], author);
  return { ok: row };
}

/** The delivery once its first attempt has an outcome, or as it is after `waitMs`. */
export async function awaitOutcome(
  pool: Pool,
  partnerId: string,
  id: string,
  waitMs: number,
): Promise<{ readonly delivery: DeliveryWithAttempts; readonly isOver: boolean }> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LAST_PAUSE_MS)) {
    const found = await readDelivery(pool, partnerId, id);
    if (found === null) throw new Error('the test delivery is gone');
    const delivery = { ...found.delivery, tentativas: found.attempts };
    const isOver = delivery.status !== 'pendente' || delivery.tentativas.length > 0;
    if (isOver || performance.now() >= endMs) return { delivery, isOver };
    await sleep(pauseMs);
  }
}
