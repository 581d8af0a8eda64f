/** How `api` and `poll` leave: seen as no longer ready first, gone when nothing is under way. */
import { createServer, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand, sandboxOn, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { listening } from '../support/listening.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const database = await createTestDatabase();
const folder = await makeTestFolder();
const env = sandboxOn(database.url, { DATA_DIR: folder.path });

test('an API that stops is not ready at once, and takes requests until its delay is over', async () => {
  const api = await startServing('api', { ...env, DRAIN_DELAY_SECONDS: '60' });
  onTestFinished(async () => void (await api.end('SIGKILL')));
  const { url } = api;
  const before = await fetch(`${url}/readyz`);
  expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive']);
  process.kill(api.pid, 'SIGTERM');
  await api.log(/draining/);
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, ready.headers.get('connection'), await ready.json()]).toEqual([
    503,
    'close',
    expect.objectContaining({ codigo: 'INDISPONIVEL', mensagem: 'este processo está encerrando' }),
  ]);
  // A connection of its own, so the port is still open.
  const served = await fetch(`${url}/v1/webhooks`, { headers: { connection: 'close' } });
  expect(served.status).toBe(401);
});

test('a poller that stops is not ready at once, lives until its POSTs are answered, and ends with 0', async () => {
  const receiver = await startReceiver();
  const held: ServerResponse[] = [];
  receiver.answerWith((_post, response) => void held.push(response));
  const partnerId = await insertPartner(database.sql);
  await insertEncryptedWebhook(database.sql, partnerId, `${receiver.url}/held`);
  const poller = await startServing('poll', env);
  const { url } = poller;
  await commitEvents(database.sql, partnerId, 1);
  await receiver.received(1);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  process.kill(poller.pid, 'SIGTERM');
  await poller.log(/draining/);
  const [ready, alive, metrics] = await Promise.all(
    ['readyz', 'healthz', 'metrics'].map((at) => fetch(`${url}/${at}`)),
  );
  expect([ready?.status, alive?.status]).toEqual([503, 200]);
  expect(await metrics?.text()).toMatch(/^carteiro_deliveries_in_flight 1$/m);
  for (const response of held) response.writeHead(200).end();
  expect((await poller.end()).code).toBe(0);
  expect(await database.sql`select status from deliveries`).toEqual([{ status: 'entregue' }]);
});

test('health finds a process that lives at PORT or METRICS_PORT, and none where there is none', async () => {
  const server = createServer((request, response) => response.writeHead(request.url === '/healthz' ? 200 : 404).end());
  const port = String(await listening(server));
  const ports = [
    { PORT: port, METRICS_PORT: '1' },
    { PORT: '1', METRICS_PORT: port, HOST: '0.0.0.0' },
  ];
  for (const own of ports) expect(await runCommand(['health'], own)).toMatchObject({ code: 0, stdout: 'alive\n' });
  server.close();
  const { code, stderr } = await runCommand(['health'], { PORT: port, METRICS_PORT: '1' });
  expect([code, stderr]).toEqual([1, `carteiro: nothing answers at ports ${port} and 1 of 127.0.0.1\n`]);
});
