import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, type PollerProcess, startPollerProcess } from '../support/poller-process.ts';
import { createRandom } from '../support/random.ts';
import { startReceiver } from '../support/receiver.ts';

const ROUNDS = 20;
const WEBHOOKS = 30;

test('SIGTERM 20 times under load: nothing is sent twice, no lease and no kept lane is left', async () => {
  const { sql, url } = await createTestDatabase();
  const random = createRandom(99);
  const receiver = await startReceiver();
  receiver.answerWith((_post, response) => {
    setTimeout(() => response.writeHead(200).end(), random.below(120));
  });
  const partnerId = await insertPartner(sql);
  for (let index = 0; index < WEBHOOKS; index += 1)
    await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/${index}`);
  await commitEvents(sql, partnerId, 1_000);
  const leasesOf = (pid: number) => sql`select from flights() where poller like ${`%-${pid}-%`}`;

  // The next one is already there when the one before it leaves.
  let leaving: PollerProcess = await startPollerProcess(url);
  const left: { code: number | null; leases: number }[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const next = await startPollerProcess(url);
    const before = receiver.posts.length;
    await receiver.received(before + 20 + random.below(150));
    await sleep(random.below(40));
    const code = await leaving.end('SIGTERM');
    left.push({ code, leases: (await leasesOf(leaving.pid)).length });
    leaving = next;
    await commitEvents(sql, partnerId, 200);
  }
  expect(left).toEqual(Array.from({ length: ROUNDS }, () => ({ code: 0, leases: 0 })));
  expect(await leaving.end('SIGTERM')).toBe(0);

  const ids = receiver.posts.map((post) => String(post.headers['x-webhook-delivery']));
  expect(new Set(ids).size).toBe(ids.length);
  const [counts] = await sql`
    select (select count(*)::int from attempts) as attempts,
           (select count(*)::int from attempts where outcome <> 'entregue') as failed,
           (select count(*)::int from flights()) as leases,
           (select count(*)::int from deliveries where status = 'pendente') > 0 as "was under load",
           (select count(*)::int from lanes where keeper is not null) + (select count(*)::int from keepers) as kept`;
  expect(counts).toEqual({ attempts: ids.length, failed: 0, leases: 0, 'was under load': true, kept: 0 });
});
