/** The port of a poller: what it answers, and what happens when it cannot be had. */
import { createServer } from 'node:net';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPort, type OpenPort } from '../../../src/main/operations/port.ts';
import { callCommand, runCommand, sandboxOn, startCommand, startServing } from '../../support/command.ts';
import { createEmptyDatabase, createTestDatabase } from '../../support/database.ts';
import { listening } from '../../support/listening.ts';
import { createLogin } from '../../support/logins.ts';
import { commitEvents, insertPartner, insertWebhook } from '../../support/outbox.ts';
import { serverOf } from '../../support/server-of.ts';

const KEY = randomBytes(32).toString('base64');

const database = await createTestDatabase();
const login = await createLogin(database, 'carteiro_poller');

const environment = () => ({ DATABASE_URL: login.url, SANDBOX: 'true', SECRETS_KEY: KEY });

/** Until the poller of `url` shows this. */
async function metricsWith(url: string, pattern: RegExp): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (pattern.test(text)) return text;
  }
}

describe('the port', () => {
  let port: OpenPort;
  let problem: string | null | Error = null;
  beforeAll(async () => {
    port = await openPort({
      host: '127.0.0.1',
      port: 0,
      metrics: { expose: async () => ({ text: 'a 1\n', contentType: 'text/plain; version=0.0.4' }) },
      ready: async () => {
        if (problem instanceof Error) throw problem;
        return problem;
      },
    });
  });
  afterAll(() => port.close());

  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(port.url + path, init);
    return [answer.status, await answer.text()];
  };

  test('answers what monitors and orchestrators ask', async () => {
    expect(await ask('/healthz')).toEqual([200, '{"status":"ok"}']);
    expect(await ask('/readyz')).toEqual([200, '{"status":"ok"}']);
    expect(await ask('/metrics?name[]=a')).toEqual([200, 'a 1\n']);
    expect(await ask('/metrics', { method: 'HEAD' })).toEqual([200, '']);
  });

  test('says why the process is not ready, and nothing of an error', async () => {
    problem = 'falta 1 migração: rode o comando migrate';
    expect(await ask('/readyz')).toEqual([503, JSON.stringify({ codigo: 'INDISPONIVEL', mensagem: problem })]);
    problem = new Error('password authentication failed for user "x"');
    const answer = [503, '{"codigo":"INDISPONIVEL","mensagem":"o banco de dados não responde"}'];
    expect(await ask('/readyz')).toEqual(answer);
    problem = null;
  });

  test('goes on after an accept that failed', async () => {
    const server = await serverOf(`${port.url}/healthz`);
    server.emit('error', new Error('accept ENETDOWN'));
    expect(await ask('/healthz')).toEqual([200, '{"status":"ok"}']);
  });

  test('refuses every other path and method', async () => {
    const paths = ['/', '/metrics/', '/v1/webhooks', '/__proto__', '/constructor'];
    for (const path of paths) expect((await ask(path))[0]).toBe(404);
    expect((await ask('/metrics', { method: 'POST', body: 'x' }))[0]).toBe(405);
  });
});

describe('poll', () => {
  test('is seen at a port of its own, with its rights alone, and not any more when it has stopped', async () => {
    const poller = await startServing('poll', environment());
    const { url } = poller;
    const text = await metricsWith(url, /carteiro_processes\{role="poller",state="alive"\} 1/);
    expect(text).toMatch(/^carteiro_heartbeat_age_seconds\{process="[^"]+",role="poller",version="[^"]+"\} \d/m);
    expect(text).toMatch(/^carteiro_database_up 1$/m);
    expect(text).toMatch(/^carteiro_deliveries_overdue\{waits_for="poller"\} 0$/m);
    expect(text).toMatch(/^carteiro_measure_seconds\{measure="tables"\} /m);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await poller.end('SIGTERM')).stderr).not.toContain('could not be measured');
    expect(await database.sql`select name from processes`).toEqual([]);
  });

  test('that was killed leaves its row, so that it is seen to be lost', async () => {
    const poller = await startServing('poll', environment());
    await metricsWith(poller.url, /carteiro_processes\{role="poller",state="alive"\} 1/);
    await poller.end('SIGKILL');
    expect(await database.sql`select count(*)::int as rows from processes`).toEqual([{ rows: 1 }]);
    await database.sql`delete from processes`;
  });

  test('counts what it sends, and how long after the append', async () => {
    const poller = await startServing('poll', { ...environment(), ALLOW_INSECURE_TARGETS: 'false' });
    const partnerId = await insertPartner(database.sql);
    // No key opens this secret: nothing is sent, and that is counted as a fault of ours.
    await insertWebhook(database.sql, partnerId, 'https://partner.example/');
    await commitEvents(database.sql, partnerId, 2);
    const text = await metricsWith(poller.url, /^carteiro_send_faults_total 2$/m);
    expect(text).toMatch(/^carteiro_claimed_deliveries_total 2$/m);
    // Each place where an operator looks says so, and what to do.
    const [{ id }] = await database.sql<[{ id: string }]>`select id from deliveries limit 1`;
    const asked = { DATABASE_URL: database.url, SANDBOX: 'true' };
    const explained = await callCommand(['queue', 'explain', id], asked);
    expect(explained.stdout).toMatch(/^A fault of this side .*: no key of the ring .* doctor tells what to do/);
    for (const command of ['status', 'worst']) {
      const { stdout } = await callCommand(['queue', command], asked);
      expect(stdout).toMatch(/no key of the ring has encrypted the secret/);
    }
    expect((await poller.end('SIGTERM')).code).toBe(0);
    await database.sql`truncate send_faults, webhooks, events, deliveries, pending, claims, keepers, lanes cascade`;
  });

  test('whose port is taken ends with one sentence and code 1', async () => {
    const port = await listening(createServer());
    const { code, stderr } = await runCommand(['poll'], {
      ...environment(),
      METRICS_PORT: String(port),
      LOG_LEVEL: 'error',
    });
    expect([code, stderr]).toEqual([
      1,
      `carteiro: the metrics cannot be served on port ${port}: it is taken; set METRICS_PORT to another, or to 0 for a free one\n`,
    ]);
  });

  test.each(['poll', 'api'])(
    'a HOST that nobody knows ends %s with what to do, and is no database out of reach',
    async (role) => {
      const { code, stderr } = await runCommand([role], {
        ...sandboxOn(database.url),
        HOST: 'no-such-name.invalid',
        LOG_LEVEL: 'error',
      });
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^carteiro: .* 0: set HOST to an address of this host\n$/),
      ]);
    },
  );

  test('does not say that it delivers where the schema does not fit', async () => {
    const empty = await createEmptyDatabase();
    const { code, stderr } = await runCommand(['poll'], { ...environment(), DATABASE_URL: empty.url });
    await empty.drop();
    expect([code, stderr.includes('the poller delivers')]).toEqual([1, false]);
    expect(stderr).toContain('migrations are pending');
  });

  test('that waits for its database is alive, not ready, and does not say that it delivers', async () => {
    const poller = startCommand(['poll'], { ...environment(), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    const [, url = ''] = /"url":"([^"]+)","msg":"metrics/.exec(await poller.log(/metrics are served/)) ?? [];
    const [alive, ready] = await Promise.all([fetch(`${url}/healthz`), fetch(`${url}/readyz`)]);
    expect([alive.status, ready.status]).toEqual([200, 503]);
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toMatch(/^carteiro_database_up 0$/m);
    expect(text).not.toMatch(/^carteiro_processes\{/m);
    const { code, stderr } = await poller.end('SIGTERM');
    expect([code, stderr.includes('the poller delivers')]).toEqual([0, false]);
  });
});
