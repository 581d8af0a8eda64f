/** A release: every process of two `api` and three `poll` is replaced, one after the other, three times, under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Balancer } from '../support/balancer.ts';
import { type RunningCommand, runCommand, startCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvent, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, type PollerProcess, startPollerProcess } from '../support/poller-process.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const ROUNDS = 3;
const APIS = 2;
const POLLERS = 3;
const WEBHOOKS = 2;
/** Three times as long as the balancer trusts an answer of /readyz. */
const DRAIN_DELAY_SECONDS = '3';
/** Both loads wait while so many events are not at the receiver, so that no delivery is late because of a queue. */
const MAX_OUTSTANDING = 100;
/** Between two events of a writer: the processes that start need the machine too. */
const PAUSE_MS = 10;
/** Each instance answers so many requests before it is replaced. */
const SERVED = 10;

test('a rolling restart of everything, three times under load: 0 lost, 0 sent twice, 0 late beyond a lease, 0 requests refused', async () => {
  const database = await createTestDatabase();
  const folder = await makeTestFolder();
  const receiver = await startReceiver();
  receiver.answerWith(status(200, '', { delayMs: 50 }));
  const { sql, pool, url } = database;
  const partnerId = await insertPartner(sql);
  for (let index = 0; index < WEBHOOKS; index += 1)
    await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/${index}`);
  await sql`update webhooks set events = '{desembolso.falhou,autorizacao.confirmada}'`;
  const env = {
    DATABASE_URL: url,
    DATA_DIR: folder.path,
    SANDBOX: 'true',
    ALLOW_INSECURE_TARGETS: 'true',
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: '0',
    DRAIN_DELAY_SECONDS,
  };
  const { stdout } = await runCommand(['token', '--scope', 'nucleo', '--ttl', '24h'], env);
  const headers = { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ parceiro_id: partnerId, cpf_trabalhador: '52998224725', origem: 'mensageria' });
  const balancer = new Balancer();
  onTestFinished(async () => {
    await balancer.close();
    await receiver.close();
    await database.drop();
    await folder.remove();
  });

  const startApi = async (): Promise<{ api: RunningCommand; at: string }> => {
    const api = startCommand(['api'], env);
    const [, at = ''] = /"url":"(http:[^"]+)"/.exec(await api.log(/the API listens/)) ?? [];
    await balancer.add(at);
    return { api, at };
  };
  const apis = await Promise.all(Array.from({ length: APIS }, startApi));
  const pollers = await Promise.all(Array.from({ length: POLLERS }, () => startPollerProcess(url)));
  const over = new AbortController();
  let acknowledged = 0;
  const isAhead = () => acknowledged - receiver.posts.length / WEBHOOKS > MAX_OUTSTANDING;
  /** The core in its own transactions, and over HTTP: each appends one event of a fresh stream. */
  const load = async (append: () => Promise<boolean>): Promise<void> => {
    while (!over.signal.aborted) {
      if (!isAhead() && (await append())) acknowledged += 1;
      await sleep(PAUSE_MS);
    }
  };
  const overSql = () => commitEvent(pool, partnerId).then(() => true);
  const overHttp = async () =>
    (await balancer.send('/v1/nucleo/autorizacoes', { method: 'POST', headers, body }))?.status === 201;
  const loading = Promise.all([load(overSql), load(overHttp), load(overHttp)]);

  const codes: (number | null)[] = [];
  const leaving: Promise<unknown>[] = [];
  /** The next one is ready before the one before it is told to stop, as with `maxUnavailable: 0`. */
  const replaceApi = async (index: number): Promise<void> => {
    const old = apis[index] as { api: RunningCommand; at: string };
    while (balancer.served(old.at) < SERVED) await sleep(5);
    apis[index] = await startApi();
    leaving.push(old.api.end('SIGTERM').then(({ code }) => codes.push(code)));
  };
  const replacePoller = async (index: number): Promise<void> => {
    codes.push(await (pollers[index] as PollerProcess).end('SIGTERM'));
    pollers[index] = await startPollerProcess(url);
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    const replacingApis = (async () => {
      for (let index = 0; index < APIS; index += 1) await replaceApi(index);
    })();
    for (let index = 0; index < POLLERS; index += 1) await replacePoller(index);
    await replacingApis;
  }
  await Promise.all(leaving);
  over.abort();
  await loading;
  while ((await sql`select from deliveries where status <> 'entregue' limit 1`).length > 0) await sleep(20);
  await balancer.close();
  for (const { api } of apis) codes.push((await api.end('SIGTERM')).code);
  for (const poller of pollers) codes.push(await poller.end('SIGTERM'));

  const [counts] = await sql`
      select (select count(*)::int from events) as events,
             (select count(*)::int from deliveries) as deliveries,
             (select count(*)::int from deliveries where claimed_by is not null) as "leases left",
             (select count(*)::int from attempts where outcome <> 'entregue') as "attempts not delivered",
             (select count(*)::int from attempts a join deliveries d on d.id = a.delivery_id join events e on e.id = d.event_id
              where a.started_at - uuid_extract_timestamp(e.id) > lease()) as late`;
  const ids = new Set(receiver.posts.map((post) => String(post.headers['x-webhook-delivery'])));
  console.log(
    `rolling restarts: ${ROUNDS} of ${APIS} api and ${POLLERS} poll, ${acknowledged} events, ${ids.size} deliveries, ` +
      `${balancer.answered} requests answered, ${balancer.refused.length} refused`,
  );
  expect(balancer.refused).toEqual([]);
  expect(counts).toEqual({
    events: acknowledged,
    deliveries: acknowledged * WEBHOOKS,
    'leases left': 0,
    'attempts not delivered': 0,
    late: 0,
  });
  expect([ids.size, receiver.posts.length]).toEqual([acknowledged * WEBHOOKS, acknowledged * WEBHOOKS]);
  expect(codes).toEqual(Array((ROUNDS + 1) * (APIS + POLLERS)).fill(0));
});
