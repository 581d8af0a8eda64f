import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import type { Sql } from '../../src/db/pool.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

let sql: Sql;

const connect = (): Sql =>
  postgres(server.url, { max: 1, onnotice: () => undefined, connection: { search_path: 'carteiro' } });

const server = await startPrivateServer();
await migrate(server.url, silentLog);
const receiver = await startReceiver();
sql = connect();
const partnerId = await insertPartner(sql);
await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/`);
const through = await TcpProxy.to(server.url);
const { proxy } = through;
const poller = await startPollerProcess(through.url);
afterAll(async () => {
  await poller.end('SIGTERM');
  await Promise.all([proxy.close(), sql.end({ timeout: 0 })]);
});

/** Commits one event and returns how long its POST took to arrive. */
async function deliverOne(): Promise<number> {
  const startedAtMs = performance.now();
  const before = receiver.posts.length;
  await commitEvents(sql, partnerId, 1);
  await receiver.received(before + 1);
  return performance.now() - startedAtMs;
}

test('when PostgreSQL is back deliveries go on by themselves', async () => {
  await deliverOne();
  const tookMs: number[] = [];
  for (const awayMs of [0, 1_500, 4_000]) {
    await sql.end({ timeout: 0 });
    await server.stopImmediately();
    await sleep(awayMs);
    await server.start();
    sql = connect();
    tookMs.push(await deliverOne());
  }
  console.log(`first delivery after PostgreSQL was back: ${tookMs.map((ms) => `${Math.round(ms)} ms`).join(', ')}`);
  expect(new Set(receiver.posts.map((post) => post.headers['x-webhook-delivery'])).size).toBe(1 + tookMs.length);
});

test('a black-holed database is noticed, and deliveries go on when there is a way again', async () => {
  await deliverOne();
  const said = poller.lines.length;
  const startedAtMs = performance.now();
  expect(proxy.blackHole(true)).toBeGreaterThan(0);
  const isNoticed = () => poller.lines.slice(said).some((line) => line.includes('out of reach'));
  while (!isNoticed()) await sleep(10);
  const noticedMs = performance.now() - startedAtMs;
  proxy.heal();
  const deliveredMs = await deliverOne();

  // Only what was open is silent: the poller must find out, new connections work.
  const openedAtMs = performance.now();
  proxy.blackHole();
  await deliverOne();
  const carriedOnMs = performance.now() - openedAtMs;
  const shown = [noticedMs, deliveredMs, carriedOnMs].map((ms) => `${Math.round(ms)} ms`);
  console.log(
    `black hole noticed after ${shown[0]}; first delivery after its end ${shown[1]}; with a way round it ${shown[2]}`,
  );
  proxy.heal();
});
