import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sql } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertSealedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { hang, type Receiver, startReceiver, status } from '../support/receiver.ts';

const WEBHOOKS = 20;

let database: TestDatabase;
let sql: Sql;
let receiver: Receiver;
let partnerId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`truncate partners, webhooks, webhook_history, events, deliveries, arrivals, lanes, attempts cascade`;
  receiver = await startReceiver();
  partnerId = await insertPartner(sql);
  for (let index = 0; index < WEBHOOKS; index += 1) {
    await insertSealedWebhook(sql, partnerId, `${receiver.url}/${index}`);
  }
  return () => receiver.close();
});

async function untilDelivered(count: number): Promise<void> {
  for (;;) {
    const [row] = await sql<[{ n: number }]>`select count(*)::int as n from deliveries where status = 'entregue'`;
    if (row.n >= count) return;
    await sleep(20);
  }
}

const sentIds = () => receiver.posts.map((post) => String(post.headers['x-webhook-delivery']));

test('two poller processes share 10,000 deliveries and never send one twice', { timeout: 600_000 }, async () => {
  await commitEvents(sql, partnerId, 500);
  const pollers = await Promise.all([startPollerProcess(database.url), startPollerProcess(database.url)]);
  await untilDelivered(10_000);
  expect(await Promise.all(pollers.map((poller) => poller.end('SIGTERM')))).toEqual([0, 0]);

  expect(receiver.posts).toHaveLength(10_000);
  expect(new Set(sentIds()).size).toBe(10_000);
  const shares = await sql`
    select poller as name, count(*)::int as n from attempts where outcome = 'entregue' group by 1`;
  expect(shares).toHaveLength(2);
  expect(await sql`select from deliveries where claimed_by is not null`).toHaveLength(0);
});

test(
  'a poller killed in mid-flight loses nothing: each of its attempts has its row and all arrive',
  { timeout: 600_000 },
  async () => {
    receiver.answerWith(hang());
    await commitEvents(sql, partnerId, 20);
    const victim = await startPollerProcess(database.url, { POLLER_CAPACITY: '122' });
    // As many as one partner gets of 122 slots (delivery/places).
    await receiver.received(100);
    await victim.end('SIGKILL');
    receiver.answerWith(status(200));
    const lost = sentIds();

    // The dead poller's leases end now instead of in 45 s.
    await sql`update deliveries set claimed_at = now() - interval '45 seconds' where claimed_by is not null`;
    await sql`update lanes set next_due_at = now(), saturated = false`;
    const survivor = await startPollerProcess(database.url);
    await untilDelivered(400);
    await survivor.end('SIGTERM');

    const unknown = await sql<{ id: string }[]>`
    select delivery_id as id from attempts where outcome = 'desconhecido' and number = 1`;
    expect(new Set(unknown.map((row) => row.id))).toEqual(new Set(lost));
    const [attempts] =
      await sql`select count(*)::int as n, count(distinct delivery_id)::int as deliveries from attempts`;
    expect(attempts).toEqual({ n: 500, deliveries: 400 });
    expect(receiver.posts).toHaveLength(500);
    expect(await sql`select from deliveries where failures > 0`).toHaveLength(0);
  },
);
