import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectTo } from '../../support/connect.ts';
import { openPool } from '../../support/database.ts';
import { startEngine } from '../../support/engine.ts';
import { migrated } from '../../support/migrated.ts';
import { commitEvents, insertSubscriber } from '../../support/outbox.ts';
import { startPrivateServer } from '../../support/private-server.ts';
import { startReceiver, status } from '../../support/receiver.ts';

const DELIVERIES = 1_000;
const OUTAGES = 3;

test('PostgreSQL stopped at once and started again during deliveries loses nothing, and the poller carries on', async () => {
  const server = await migrated(startPrivateServer());
  const receiver = await startReceiver();
  receiver.answerWith(status(200, '', { delayMs: 5 }));
  const pool = openPool(server.url, { max: 3, deadlineMs: 4_500 });
  let sql = connectTo(server.url);
  const { partnerId } = await insertSubscriber(sql, `${receiver.url}/`);
  await commitEvents(sql, partnerId, DELIVERIES);

  const engine = startEngine(pool, { now: () => null });
  const running = engine.poller.run();
  for (let outage = 1; outage <= OUTAGES; outage += 1) {
    await receiver.received((DELIVERIES / (OUTAGES + 1)) * outage);
    await sql.end({ timeout: 0 });
    await server.stopImmediately();
    await server.start();
    sql = connectTo(server.url);
  }
  const pending = async () => (await sql`select from deliveries where status <> 'entregue'`).length;
  while ((await pending()) > 0) await sleep(20);
  await Promise.all([engine.close(), running]);

  const ids = receiver.posts.map((post) => String(post.headers['x-webhook-delivery']));
  expect(new Set(ids).size).toBe(DELIVERIES);
  // Every POST has its row: the report was kept through the outage and recorded after it.
  const [attempts] = await sql`select count(*)::int as n from attempts`;
  expect(attempts).toEqual({ n: ids.length });
  expect(ids).toHaveLength(DELIVERIES);
});
