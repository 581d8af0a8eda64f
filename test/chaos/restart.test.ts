/** PostgreSQL starts again while POSTs are in flight: nobody's claims are taken, so nothing is sent twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectTo } from '../support/connect.ts';
import { migrated } from '../support/migrated.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { startReceiver } from '../support/receiver.ts';

const WEBHOOKS = 6;
const CAP = 8;
const RESTARTS = 3;

test('two pollers keep what they hold over restarts of PostgreSQL: no POST is sent twice', async () => {
  const server = await migrated(startPrivateServer());
  const receiver = await startReceiver();
  const waiting: (() => void)[] = [];
  receiver.answerWith((_post, response) => void waiting.push(() => response.writeHead(200).end()));
  let sql = connectTo(server.url);
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
    sql = connectTo(server.url);
    await untilAllLive();
    for (const answer of waiting.splice(0)) answer();
    while ((await sql`select from deliveries where status <> 'entregue' limit 1`).length > 0) await sleep(20);
  }

  expect(receiver.posts).toHaveLength(RESTARTS * CAP * WEBHOOKS);
  expect(await sql`select outcome, late, count(*)::int as n from attempts group by 1, 2`).toEqual([
    { outcome: 'entregue', late: false, n: RESTARTS * CAP * WEBHOOKS },
  ]);
  for (const poller of pollers) expect(await poller.end('SIGTERM')).toBe(0);
});
