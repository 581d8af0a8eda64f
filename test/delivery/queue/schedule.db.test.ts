import { verify } from '@octokit/webhooks-methods';
import { expect, test } from 'vitest';
import { envelope } from '../../../src/contract/delivery.ts';
import { RETRY_DELAYS_S } from '../../../src/contract/schedule.ts';
import { createTestDatabase } from '../../support/database.ts';
import { advance, startEngine } from '../../support/engine.ts';
import {
  commitEvent,
  insertPartner,
  insertSubscriber,
  insertWebhook,
  readAttempts,
  readDeliveries,
} from '../../support/outbox.ts';
import { startReceiver, status } from '../../support/receiver.ts';

const database = await createTestDatabase();
const { pool, sql } = database;

test('a receiver that answers 500 gets six POSTs of the same bytes, on schedule, and the delivery ends in erro', async () => {
  const receiver = await startReceiver();
  receiver.answerWith(status(500));
  const partnerId = await insertPartner(sql);
  const webhook = await insertWebhook(sql, partnerId, `${receiver.url}/`);
  await commitEvent(pool, partnerId);
  const engine = startEngine(pool);
  const read = async () => {
    const [delivery] = await readDeliveries(sql, webhook.id);
    if (!delivery) throw new Error('there is no delivery');
    return delivery;
  };

  expect(await engine.poll()).toBe(1);
  for (const delayS of RETRY_DELAYS_S) {
    const { id, nextAttemptAt } = await read();
    const last = (await readAttempts(sql, id)).at(-1);
    const endedAt = Number(last?.startedAt) + Number(last?.durationMs);
    const dueAt = Number(nextAttemptAt);
    expect(Math.abs(dueAt - endedAt - delayS * 1_000)).toBeLessThanOrEqual(2);

    engine.now = new Date(dueAt - 1);
    expect(await engine.poll()).toBe(0);
    engine.now = new Date(dueAt + 1);
    expect(await engine.poll()).toBe(1);
  }
  expect(await read()).toMatchObject({ status: 'erro', attempts: 6, failures: 6, nextAttemptAt: null });
  advance(engine, 10 * 86_400);
  expect(await engine.poll()).toBe(0);

  expect(receiver.posts).toHaveLength(6);
  const [first] = receiver.posts;
  for (const post of receiver.posts) {
    expect(post.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    expect(post.headers['x-webhook-delivery']).toBe((await read()).id);
    expect(post.headers['x-webhook-event']).toBe('desembolso.falhou');
    expect(post.headers['content-type']).toBe('application/json');
    expect(await verify(webhook.secret, post.body.toString(), String(post.headers['x-webhook-signature']))).toBe(true);
  }
  const tampered = String(first?.body).replace('conta', 'Conta');
  expect(await verify(webhook.secret, tampered, String(first?.headers['x-webhook-signature']))).toBe(false);
});

test('the envelope’s bytes are the contract’s: keys in order, milliseconds, data as the catalog lists it', async () => {
  const receiver = await startReceiver();
  const { partnerId } = await insertSubscriber(sql, `${receiver.url}/`);
  const stream = await commitEvent(pool, partnerId);
  const engine = startEngine(pool);
  await engine.poll();
  expect(envelope.safeParse(JSON.parse(String(receiver.posts[0]?.body))).success).toBe(true);
  expect(receiver.posts[0]?.body.toString()).toBe(
    `{"evento":"desembolso.falhou","timestamp":"2026-01-31T12:00:00.000Z","parceiro_id":"${partnerId}",` +
      `"data":{"emprestimo_id":"${stream}","numero_emprestimo":"2026-00000001","motivo":"conta encerrada"}}`,
  );
});
