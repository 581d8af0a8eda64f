import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { commitEvents, insertPartner } from '../../support/outbox.ts';
import { insertEncryptedWebhook, type PollerProcess, startPollerProcess } from '../../support/poller-process.ts';
import { hang, type Receiver, startReceiver, status } from '../../support/receiver.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

const WEBHOOKS = 20;
let receiver: Receiver;
let partnerId: string;

const database = await useEmptyDatabase();
const { sql } = database;
beforeEach(async () => {
  receiver = await startReceiver();
  partnerId = await insertPartner(sql);
  for (let index = 0; index < WEBHOOKS; index += 1) {
    await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/${index}`);
  }
});

async function untilDelivered(count: number): Promise<void> {
  for (;;) {
    const [row] = await sql<[{ n: number }]>`select count(*)::int as n from deliveries where status = 'entregue'`;
    if (row.n >= count) return;
    await sleep(20);
  }
}

const sentIds = () => receiver.posts.map((post) => String(post.headers['x-webhook-delivery']));

test('two poller processes share 10,000 deliveries and never send one twice', async () => {
  await commitEvents(sql, partnerId, 500);
  const pollers = await Promise.all([startPollerProcess(database.url), startPollerProcess(database.url)]);
  await untilDelivered(10_000);
  expect(await Promise.all(pollers.map((poller) => poller.end('SIGTERM')))).toEqual([0, 0]);

  expect(receiver.posts).toHaveLength(10_000);
  expect(new Set(sentIds()).size).toBe(10_000);
  const shares = await sql`
    select poller as name, count(*)::int as n from attempts where outcome = 'entregue' group by 1`;
  expect(shares).toHaveLength(2);
  expect(await sql`select from flights()`).toHaveLength(0);
});

/** As many as one partner gets of the 122 slots of a poller (delivery/slots). */
const HELD = 100;
const FEW_SLOTS = { POLLER_CAPACITY: '122' };

/** Has the one poller that runs hold 100 POSTs that hang; whoever sends later is answered. Returns their deliveries. */
async function hangAll(): Promise<string[]> {
  receiver.answerWith(hang());
  await commitEvents(sql, partnerId, 20);
  await receiver.received(HELD);
  receiver.answerWith(status(200));
  return sentIds();
}

/** Freezes a poller, the only one, when the server has nothing of it under way: a claim that was sent is carried out. */
async function freeze(poller: PollerProcess): Promise<void> {
  process.kill(poller.pid, 'SIGSTOP');
  for (;;) {
    const [row] = await sql<[{ n: number }]>`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and application_name like '%poller' and state <> 'idle'`;
    if (row.n === 0) return;
    await sleep(20);
  }
}

/** Starts a second poller and has it hold 100 POSTs that hang, while the other one is frozen and claims nothing. */
async function hangAllBeside(
  other: PollerProcess,
  start: () => Promise<PollerProcess>,
): Promise<{ member: PollerProcess; lost: string[] }> {
  await freeze(other);
  const member = await start();
  const lost = await hangAll();
  process.kill(other.pid, 'SIGCONT');
  return { member, lost };
}

/** Those were sent twice, their first attempts are lost, and no slot of the schedule was spent. */
async function expectTakenOver(lost: readonly string[]): Promise<void> {
  const unknown = await sql<{ id: string }[]>`
    select delivery_id as id from attempts where outcome = 'desconhecido' and number = 1`;
  expect(new Set(unknown.map((row) => row.id))).toEqual(new Set(lost));
  const [attempts] = await sql`
    select count(*)::int as n, count(distinct delivery_id)::int as deliveries from attempts where not late`;
  expect(attempts).toEqual({ n: 400 + HELD, deliveries: 400 });
  expect(receiver.posts).toHaveLength(400 + HELD);
  expect(await sql`select from deliveries where failures > 0`).toHaveLength(0);
}

const hasSaid = (poller: PollerProcess, words: string) => poller.lines.some((line) => line.includes(words));

test('a living poller takes over what a killed one held, long before its leases end', async () => {
  const survivor = await startPollerProcess(database.url);
  const { member: victim, lost } = await hangAllBeside(survivor, () => startPollerProcess(database.url, FEW_SLOTS));
  await victim.end('SIGKILL');
  await untilDelivered(400);
  await survivor.end('SIGTERM');
  expect(survivor.lines.join('\n')).toContain('a poller is gone');
  await expectTakenOver(lost);
});

test('what a poller had sent when it was cut off from its database is taken over, and reported late when it returns', async () => {
  const { proxy, url } = await TcpProxy.to(database.url);
  const other = await startPollerProcess(database.url);
  const { member, lost } = await hangAllBeside(other, () => startPollerProcess(url, FEW_SLOTS));
  proxy.redirect('postgres://127.0.0.1:1/nowhere');
  await untilDelivered(400);
  proxy.redirect(database.url);
  receiver.closeConnections();
  while (!hasSaid(member, 'reported after their lease was lost')) await sleep(20);
  for (const poller of [member, other]) expect(await poller.end('SIGTERM')).toBe(0);
  expect(other.lines.join('\n')).toContain('a poller is gone');
  await expectTakenOver(lost);
  expect(await sql`select from attempts where late`).toHaveLength(HELD);
});

test('a poller killed in mid-flight whose leases alone stand loses nothing: each of its attempts has its row and all arrive', async () => {
  const victim = await startPollerProcess(database.url, { ...FEW_SLOTS, DATABASE_PREPARE: 'false' });
  const lost = await hangAll();
  await victim.end('SIGKILL');
  expect(victim.lines.join('\n')).toContain('waits for the end of its lease');

  // The dead poller's leases end now.
  await sql`update claims set at = now() - lease()`;
  const survivor = await startPollerProcess(database.url);
  await untilDelivered(400);
  await survivor.end('SIGTERM');
  expect(survivor.lines.join('\n')).not.toContain('a poller is gone');
  await expectTakenOver(lost);
});
