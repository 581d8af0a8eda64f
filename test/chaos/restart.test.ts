/** PostgreSQL starts again while POSTs are in flight: nobody's claims are taken, so nothing is sent twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import type { Sql } from '../../src/db/pool.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';

const WEBHOOKS = 6;
const CAP = 8;
const RESTARTS = 3;

const connect = (url: string): Sql =>
  postgres(url, { max: 1, onnotice: () => undefined, connection: { search_path: 'carteiro' } });

test('two pollers keep what they hold over restarts of PostgreSQL: no POST is sent twice', async () => {
  const server = await startPrivateServer();
  await migrate(server.url, silentLog);
  const receiver = await startReceiver();
  const waiting: (() => void)[] = [];
  receiver.answerWith((_post, response) => void waiting.push(() => response.writeHead(200).end()));
  let sql = connect(server.url);
  const partnerId = await insertPartner(sql);
  for (let index = 0; index < WEBHOOKS; index += 1) {
    await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/${index}`);
  }
  const pollers = await Promise.all([startPollerProcess(server.url), startPollerProcess(server.url)]);
  const untilAllLive = async () => {
    while ((await sql`select distinct number from living_pollers()`).length < pollers.length) await sleep(20);
  };

  for (let restart = 1; restart <= RESTARTS; restart += 1) {
    await untilAllLive();
    await commitEvents(sql, partnerId, CAP);
    await receiver.received(restart * CAP * WEBHOOKS);
    await sql.end({ timeout: 0 });
    await server.stopImmediately();
    await server.start();
    sql = connect(server.url);
    await untilAllLive();
    for (const answer of waiting.splice(0)) answer();
    while ((await sql`select from deliveries where status <> 'entregue' limit 1`).length > 0) await sleep(20);
  }

  expect(receiver.posts).toHaveLength(RESTARTS * CAP * WEBHOOKS);
  expect(await sql`select outcome, late, count(*)::int as n from attempts group by 1, 2`).toEqual([
    { outcome: 'entregue', late: false, n: RESTARTS * CAP * WEBHOOKS },
  ]);
  for (const poller of pollers) expect(await poller.end('SIGTERM')).toBe(0);
  await sql.end({ timeout: 0 });
});
