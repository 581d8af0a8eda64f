/** What an API's log and ports tell those who watch it: probes while it drains, refused tokens, metrics on a port of their own. */
import { expect, test } from 'vitest';
import { callCommand, sandboxOn, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertPartner } from '../support/outbox.ts';

const database = await createTestDatabase();

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly status?: number;
  readonly reason?: string;
  readonly refused?: string;
  readonly url?: string;
}

test('probes of an API that drains are told once, a refused token with its reason, and metrics on METRICS_PORT alone', async () => {
  const partnerId = await insertPartner(database.sql);
  const env = sandboxOn(database.url, { METRICS_PORT: '0', DRAIN_DELAY_SECONDS: '2' });
  const api = await startServing('api', env);
  const logged = () =>
    api
      .logged()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line);
  const own = logged().find(({ msg }) => msg === 'metrics are served')?.url ?? '';
  expect((await fetch(`${api.url}/metrics`)).status).toBe(404);
  expect(await (await fetch(`${own}/metrics`)).text()).toMatch(/^carteiro_http_connections /m);
  for (const path of ['/healthz', '/readyz']) expect((await fetch(`${own}${path}`)).status).toBe(200);

  const token = await callCommand(['token', '--scope', 'webhooks:read', '--partner', partnerId, '--ttl', '1s'], env);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const ask = (bearer: string) => fetch(`${api.url}/v1/webhooks`, { headers: { authorization: `Bearer ${bearer}` } });
  expect((await ask('a.b.c')).status).toBe(401);
  const stale = token.stdout.trim();
  while ((await ask(stale)).status !== 401) await new Promise((resolve) => setTimeout(resolve, 200));
  const refused = logged().filter(({ status }) => status === 401);
  expect(refused.map((line) => line.refused)).toEqual([
    'JWS Protected Header is invalid',
    '"exp" claim timestamp check failed',
  ]);
  expect(api.logged()).not.toContain(stale);

  const ended = api.end('SIGTERM');
  await api.log(/draining/);
  let probes = 0;
  for (; ; probes += 1) {
    const answer = await fetch(`${api.url}/readyz`).catch(() => null);
    if (answer === null) break;
    expect([answer.status, await answer.json()]).toMatchObject([503, { mensagem: 'este processo está encerrando' }]);
  }
  expect(probes).toBeGreaterThan(0);
  await ended;
  const after = logged();
  expect(after.filter(({ level }) => level === 'error')).toEqual([]);
  expect(after.filter(({ msg }) => msg === 'not ready')).toMatchObject([{ reason: 'este processo está encerrando' }]);
  expect(after.filter(({ msg, status }) => msg === 'request' && status === 503)).toEqual([]);
});
