/** Off-boarding and muting under load, with two real pollers and a core that appends all the while. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { type Receiver, startReceiver, status } from '../support/receiver.ts';

let receiver: Receiver;
let partnerId: string;
let webhookId: string;
let otherId: string;

const database = await createTestDatabase();
const pollers = await Promise.all([startPollerProcess(database.url), startPollerProcess(database.url)]);
afterAll(async () => {
  for (const poller of pollers) await poller.end('SIGTERM');
});
beforeEach(async () => {
  receiver = await startReceiver();
  // Slow, and failing every third time: something is always in flight, and something always due again.
  let count = 0;
  receiver.answerWith((post, response, socket) => {
    count += 1;
    status(count % 3 === 0 ? 503 : 200, '', { delayMs: 20 })(post, response, socket);
  }, '/steered');
  partnerId = await insertPartner(database.sql);
  ({ id: webhookId } = await insertEncryptedWebhook(database.sql, partnerId, `${receiver.url}/steered`));
  otherId = await insertPartner(database.sql);
  await insertEncryptedWebhook(database.sql, otherId, `${receiver.url}/other`);
});

const run = async (...args: string[]) => {
  const finished = await runCommand([...args, '--json'], {
    DATABASE_URL: database.url,
    SANDBOX: 'true',
    LOG_LEVEL: 'warn',
  });
  expect([finished.code, finished.stderr]).toEqual([0, '']);
  return JSON.parse(finished.stdout) as Record<string, unknown>;
};
const postsTo = (path: string) => receiver.posts.filter((post) => post.path === path).length;
const until = async (isSo: () => Promise<boolean> | boolean) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** Appends for a partner until it is told to stop; what is refused by then does not matter. */
function appendTo(partner: string): () => Promise<number> {
  const stop = new AbortController();
  let appended = 0;
  const appending = (async () => {
    while (!stop.signal.aborted) {
      const isDone = await commitEvents(database.sql, partner, 5).then(
        () => true,
        (error: { code?: string }) => (error.code === 'CT403' ? false : Promise.reject(error as Error)),
      );
      if (isDone) appended += 5;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    stop.abort();
    await appending;
    return appended;
  };
}

const statuses = async () => {
  const rows = await database.sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count from deliveries where webhook_id = ${webhookId} group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

test('not one POST follows when partner deactivate has left; the others are served on', async () => {
  const [stopOwn, stopOther] = [appendTo(partnerId), appendTo(otherId)];
  await until(() => postsTo('/steered') > 50);
  await run('partner', 'deactivate', partnerId);
  const [before, others] = [postsTo('/steered'), postsTo('/other')];
  await until(() => postsTo('/other') > others + 200);
  // What was waiting to be tried again is asked for now, which a lane that is still served would answer.
  const othersThen = postsTo('/other');
  await until(() => postsTo('/other') > othersThen + 200);
  expect(postsTo('/steered')).toBe(before);
  const found = await statuses();
  expect(Object.keys(found)).toEqual(['entregue', 'suspensa']);
  const appended = await stopOwn();
  const [{ made }] = await database.sql<[{ made: number }]>`
    select sum(fan_out)::int as made from events where partner_id = ${partnerId}`;
  expect(made).toBe((found['entregue'] ?? 0) + (found['suspensa'] ?? 0));
  // What the core tells of a partner that has left is logged, without a delivery.
  expect(appended).toBeGreaterThan(made);
  await stopOther();
});

test('not one POST follows when webhook mute has left; all of it arrives after unmute', async () => {
  const [stopOwn, stopOther] = [appendTo(partnerId), appendTo(otherId)];
  await until(() => postsTo('/steered') > 50);
  await run('webhook', 'mute', webhookId);
  const [before, others] = [postsTo('/steered'), postsTo('/other')];
  // Due or not: nothing of a muted lane is taken, also when it is read anew.
  await database.sql`update deliveries set next_attempt_at = now() where webhook_id = ${webhookId} and status = 'pendente'`;
  await database.sql`update lanes set changed = keeper is not null where webhook_id = ${webhookId}`;
  await until(() => postsTo('/other') > others + 300);
  const appended = await stopOwn();
  await stopOther();
  expect(postsTo('/steered')).toBe(before);
  const waiting = await statuses();
  expect(Object.keys(waiting)).toEqual(['entregue', 'pendente']);
  expect((waiting['entregue'] ?? 0) + (waiting['pendente'] ?? 0)).toBe(appended);
  expect(await database.sql`select from flights() where webhook_id = ${webhookId}`).toEqual([]);

  receiver.answerWith(status(200), '/steered');
  await run('webhook', 'unmute', webhookId);
  await until(async () => (await statuses())['pendente'] === undefined);
  expect(await statuses()).toEqual({ entregue: appended });
  const lines = pollers.flatMap(({ lines }) => lines);
  expect(lines.filter((line) => /"level":"error"/.test(line))).toEqual([]);
});
