/** Commands and running processes on a database that finds itself on another server, or back in time. */
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import type { Sql } from '../../src/db/pool.ts';
import { recheck } from '../../src/db/known-server.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { backUp, following, startCluster, type TestCluster, untilCaughtUp } from '../support/clusters.ts';
import { callCommand, runCommand, sandboxOn, startCommand, startServing } from '../support/command.ts';
import { createTestDatabase, type TestDatabase, openPool } from '../support/database.ts';
import { commitEvents, insertPartner, readDeliveries } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

let database: TestDatabase;

const receiver = await startReceiver();

/** As a dump of another server leaves it. */
const makeCopy = (sql: Sql) => sql`update installation set system_identifier = system_identifier + 1`;

const saidBy = (stderr: string) => stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));

const SENTENCE = /^carteiro: this database is a copy: it was written on another server; if it is to go on .* 'adopt'$/;

async function prepare(): Promise<{ webhookId: string; partnerId: string }> {
  database = await createTestDatabase();
  const partnerId = await insertPartner(database.sql);
  const { id: webhookId } = await insertEncryptedWebhook(database.sql, partnerId, `${receiver.url}/${partnerId}`);
  await commitEvents(database.sql, partnerId, 3);
  return { webhookId, partnerId };
}

const postsTo = (partnerId: string) => receiver.posts.filter(({ path }) => path === `/${partnerId}`);

test('a copy is refused in one sentence by poll, start and the jobs; the auditors may read it', async () => {
  const { partnerId } = await prepare();
  await makeCopy(database.sql);
  for (const args of [['poll'], ['start'], ['sync-bonds'], ['audit', 'seal'], ['rebuild']]) {
    const { code, stderr } = await runCommand(args, sandboxOn(database.url));
    expect([args, code, saidBy(stderr)]).toEqual([args, 1, [expect.stringMatching(SENTENCE)]]);
  }
  expect(postsTo(partnerId)).toEqual([]);
  expect((await callCommand(['audit', 'verify'], sandboxOn(database.url))).code).toBe(0);
  const migrated = await runCommand(['migrate'], sandboxOn(database.url));
  expect(migrated).toMatchObject({ code: 0, stdout: 'migrated\n' });
  expect(migrated.stderr).toContain('this database is a copy');
});

test('the API on a copy answers 503 at /readyz until adopt, whose closing text says what is not known', async () => {
  const { webhookId, partnerId } = await prepare();
  await makeCopy(database.sql);
  const api = await startServing('api', sandboxOn(database.url));
  const { url } = api;
  const before = await fetch(`${url}/readyz`);
  expect([before.status, await before.json()]).toMatchObject([
    503,
    { mensagem: expect.stringContaining('é uma cópia') as string },
  ]);

  const { code, stdout, stderr } = await runCommand(['adopt'], sandboxOn(database.url));
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    adopted: true,
    fault: 'copy',
    epoch: 2,
    endedClaims: 0,
    pending: 3,
    newestAttemptAt: null,
  });
  const text = saidBy(stderr).join('\n');
  expect(text).toMatch(/deliveries that left after it look as if they had not/);
  expect(text).toContain('409 CURSOR_ADIANTE');

  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const poller = startCommand(['poll'], sandboxOn(database.url));
  await receiver.received(receiver.posts.length - postsTo(partnerId).length + 3);
  await poller.end('SIGTERM');
  expect((await readDeliveries(database.sql, webhookId)).map(({ status }) => status)).toEqual(
    Array(3).fill('entregue'),
  );
  expect((await api.end('SIGTERM')).code).toBe(0);
  const again = await callCommand(['adopt'], sandboxOn(database.url));
  expect(JSON.parse(again.stdout)).toMatchObject({ adopted: false, epoch: 2 });
});

test.each(['poll', 'api'] as const)(
  '%s that runs while its database becomes a copy leaves with that sentence',
  async (role) => {
    await prepare();
    const running = await startServing(role, sandboxOn(database.url));
    await makeCopy(database.sql);
    const { code, stderr } = await running.end();
    expect([code, saidBy(stderr)]).toEqual([1, [expect.stringMatching(SENTENCE)]]);
  },
);

test('a server whose count falls below what a process has seen waits for everybody until adopt', async () => {
  await prepare();
  const pool = openPool(database.url, { max: 6 });
  const seen = await recheck(pool, silentLog, null);
  const ahead = { ...seen, nextTx: String(BigInt(seen.nextTx) + 1_000_000n) };
  await expect(recheck(pool, silentLog, ahead)).rejects.toThrow('went back in time');
  await expect(sealAll(pool)).rejects.toThrow('went back in time');
  const { stderr } = await runCommand(['poll'], sandboxOn(database.url));
  expect(saidBy(stderr)).toEqual([expect.stringContaining('went back in time')]);
  expect((await callCommand(['adopt'], sandboxOn(database.url))).code).toBe(0);
  await expect(recheck(pool, silentLog, { ...ahead, epoch: 1 })).resolves.toMatchObject({ epoch: 2 });
});

test('an old primary beside its promoted standby waits as soon as one process has seen both', async () => {
  await prepare();
  const pool = openPool(database.url, { max: 6 });
  const seen = await recheck(pool, silentLog, null);
  await expect(recheck(pool, silentLog, { ...seen, epoch: seen.epoch + 1 })).rejects.toThrow('went back in time');
  await expect(sealAll(pool)).rejects.toThrow('went back in time');
});

test('pollers and sealers of a primary go on with the promoted standby, and say so', async () => {
  await prepare();
  const source: TestCluster = await startCluster();
  await migrate(source.url, silentLog);
  const options = { max: 1, onnotice: () => undefined, connection: { search_path: 'carteiro' } };
  const here = postgres(source.url, options);
  const partnerId = await insertPartner(here);
  await insertEncryptedWebhook(here, partnerId, `${receiver.url}/${partnerId}`);
  const standby = await (await backUp(source)).start({ signal: 'standby.signal', settings: following(source) });
  const there = postgres(standby.url, options);
  const { proxy, url } = await TcpProxy.to(source.url);
  const poller = await startServing('poll', sandboxOn(url));
  await commitEvents(here, partnerId, 1);
  while (postsTo(partnerId).length < 1) await receiver.received(receiver.posts.length + 1);
  await untilCaughtUp(here, there);
  await here.end({ timeout: 0 });
  await source.stop('immediate');
  await there`select pg_promote()`;
  proxy.redirect(standby.url);
  const promotedAtMs = performance.now();
  const reported = await poller.log(/a new epoch begins/);
  console.log(
    `the poller said so ${Math.round(performance.now() - promotedAtMs)} ms after there was a way to the promoted standby`,
  );
  expect(reported).toMatch(/"epoch":2,"before":1/);
  await commitEvents(there, partnerId, 2);
  while (postsTo(partnerId).length < 3) await receiver.received(receiver.posts.length + 1);
  expect((await poller.end('SIGTERM')).code).toBe(0);
  await there.end({ timeout: 1 });
});
