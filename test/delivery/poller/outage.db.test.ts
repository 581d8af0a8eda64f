import postgres from 'postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { migrate } from '../../../src/db/migrations/migrate.ts';
import { Pool } from '../../../src/db/pool.ts';
import { startEngine } from '../../support/engine.ts';
import { commitEvents, insertSubscriber } from '../../support/outbox.ts';
import { startPrivateServer } from '../../support/private-server.ts';
import { startReceiver, status } from '../../support/receiver.ts';
import { silentLog } from '../../support/silent-log.ts';

const DELIVERIES = 1_000;
const OUTAGES = 3;

test('PostgreSQL stopped at once and started again during deliveries loses nothing, and the poller carries on', async () => {
  const server = await startPrivateServer();
  const receiver = await startReceiver();
  receiver.answerWith(status(200, '', { delayMs: 5 }));
  await migrate(server.url, silentLog);
  const pool = new Pool({ url: server.url, name: 'test', max: 3, deadlineMs: 4_500 });
  const connect = () =>
    postgres(server.url, { max: 1, onnotice: () => undefined, connection: { search_path: 'carteiro' } });
  let sql = connect();
  const { partnerId } = await insertSubscriber(sql, `${receiver.url}/`);
  await commitEvents(sql, partnerId, DELIVERIES);

  const engine = startEngine(pool, { now: () => null });
  const running = engine.poller.run();
  for (let outage = 1; outage <= OUTAGES; outage += 1) {
    await receiver.received((DELIVERIES / (OUTAGES + 1)) * outage);
    await sql.end({ timeout: 0 });
    await server.stopImmediately();
    await server.start();
    sql = connect();
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
  await sql.end();
  await pool.close();
});
