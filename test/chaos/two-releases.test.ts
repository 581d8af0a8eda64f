/**
 * Two releases side by side: the next one replaces this one step by step under load, and goes back. It has one event more, one
 * optional key more, and a key that may be null. Every process is real; each step of the fleet is a rolling restart of two `api`
 * and three `poll`.
 */
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { disbursementFailed } from '../../src/contract/payloads.ts';
import { registeredLoan } from '../core/disbursed-loans.ts';
import { createPartner } from '../core/loan-world.ts';
import { Balancer } from '../support/balancer.ts';
import { type RunningCommand, sandboxOn, startCommand, startServing } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { type Receiver, startReceiver, status } from '../support/receiver.ts';
import { makeNextRelease } from '../support/next-release.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const HERE = resolve(import.meta.dirname, '../..');
const [APIS, POLLERS] = [2, 3];
/** What each load appends before the next step. */
const EVENTS_A_STEP = 20;
/** Between two calls of a load: the processes that start need the machine too. */
const PAUSE_MS = 10;
/** The loads wait while so many events are not at the receiver, so that no delivery is late because of a queue. */
const MAX_OUTSTANDING = 100;

type Release = 'this' | 'next';

/** The schemas that a receiver of each release holds: both let keys pass that they do not know. */
const SCHEMAS: Readonly<Record<string, Readonly<Record<Release, z.ZodType>>>> = {
  'desembolso.falhou': {
    this: z.looseObject(disbursementFailed.shape),
    next: z.looseObject({
      ...disbursementFailed.shape,
      motivo: z.string().nullable(),
      canal: z.enum(['web', 'app']).optional(),
    }),
  },
  'desembolso.estornado': {
    this: z.never(),
    next: z.looseObject({ emprestimo_id: z.uuid(), numero_emprestimo: z.string() }),
  },
};

/** All `api` and `poll` of an installation, behind a load balancer. */
class Fleet {
  readonly balancer = new Balancer();
  readonly codes: (number | null)[] = [];
  readonly #env: Readonly<Record<string, string>>;
  readonly #main: Readonly<Record<Release, string>>;
  readonly #running = { api: [] as RunningCommand[], poll: [] as RunningCommand[] };

  constructor(env: Readonly<Record<string, string>>, main: Readonly<Record<Release, string>>) {
    this.#env = env;
    this.#main = main;
  }

  /** Replaces each process by one of this release, one after the other. The next `api` is ready before the one before it ends. */
  async become(release: Release): Promise<void> {
    const leaving: Promise<unknown>[] = [];
    const end = async (old?: RunningCommand) => old && this.codes.push((await old.end('SIGTERM')).code);
    for (let index = 0; index < Math.max(APIS, POLLERS); index += 1) {
      if (index < APIS) {
        const api = await startServing('api', this.#env, this.#main[release]);
        await this.balancer.add(api.url);
        leaving.push(end(this.#running.api[index]));
        this.#running.api[index] = api;
      }
      await end(this.#running.poll[index]);
      const poll = await startServing('poll', this.#env, this.#main[release]);
      this.#running.poll[index] = poll;
    }
    await Promise.all(leaving);
  }

  async run(args: readonly string[], release: Release = 'this'): Promise<string> {
    const { code, stdout } = await startCommand(args, this.#env, this.#main[release]).end();
    this.codes.push(code);
    return stdout.trim();
  }

  async stop(): Promise<void> {
    await this.balancer.close();
    for (const one of [...this.#running.api, ...this.#running.poll]) this.codes.push((await one.end('SIGTERM')).code);
  }
}

interface Body {
  readonly evento: string;
  readonly data: { readonly motivo?: string | null; readonly canal?: string };
}

const bodiesAt = ({ posts }: Receiver) => posts.map(({ body }) => JSON.parse(String(body)) as Body);

test('schema, API and pollers, core, and back one step at each point, under load: 0 errors, 0 lost, 0 sent twice, 0 late, 0 requests refused', async () => {
  const database = await createTestDatabase();
  const folder = await makeTestFolder();
  const receiver = await startReceiver();
  receiver.answerWith(status(200, '', { delayMs: 50 }));
  const { sql, pool, url } = database;
  const nextFolder = join(folder.path, 'next');
  await makeNextRelease(nextFolder);
  const env = sandboxOn(url, { DATA_DIR: folder.path, DRAIN_DELAY_SECONDS: '3' });
  const fleet = new Fleet(env, { this: join(HERE, 'src/main.ts'), next: join(nextFolder, 'src/main.ts') });
  onTestFinished(async () => {
    await receiver.close();
    await database.drop();
    await folder.remove();
  });
  const partner = await createPartner(sql);
  const webhook = await insertEncryptedWebhook(sql, partner.partnerId, receiver.url);
  const tokenOf = async (scope: string, ...args: string[]) => ({
    authorization: `Bearer ${await fleet.run(['token', '--ttl', '24h', '--scope', scope, ...args])}`,
    'content-type': 'application/json',
  });
  const ofCore = await tokenOf('nucleo');
  const ofPartner = await tokenOf('webhooks:read webhooks:write emprestimos:read', '--partner', partner.partnerId);

  let core: Release = 'this';
  const appended = { sql: 0, http: 0 };
  const read = { calls: 0 };
  const faults: string[] = [];
  const over = new AbortController();
  const isAhead = () => appended.sql + appended.http - receiver.posts.length > MAX_OUTSTANDING;
  const load = async (once: () => Promise<unknown>): Promise<void> => {
    while (!over.signal.aborted) {
      if (!isAhead()) await once().catch((error: Error) => faults.push(error.message));
      await sleep(PAUSE_MS);
    }
  };
  const call = async (path: string, wanted: number, init: RequestInit): Promise<void> => {
    const answer = await fleet.balancer.send(path, init);
    if (answer !== null && answer.status !== wanted) faults.push(`${path}: ${answer.status} ${await answer.text()}`);
  };
  const loans = { sql: await registeredLoan(pool, partner), http: await registeredLoan(pool, partner) };
  const overHttp = async () => {
    const body = '{"resultado":"falhou"}';
    await call(`/v1/nucleo/emprestimos/${loans.http.id}/desembolso`, 200, { method: 'POST', headers: ofCore, body });
    appended.http += 1;
  };
  const append = async (type: string, data: object) => {
    const text = JSON.stringify({ emprestimo_id: loans.sql.id, numero_emprestimo: '2026-00000001', ...data });
    await sql`
      select append_event(${loans.sql.id}, stream_version(${loans.sql.id}), ${type}, ${partner.partnerId}, ${text}::text::json, 'core')`;
    appended.sql += 1;
  };
  const overSql = async () => {
    await append('desembolso.falhou', core === 'next' ? { motivo: null, canal: 'app' } : { motivo: 'conta encerrada' });
    if (core === 'next') await append('desembolso.estornado', {});
  };
  /** The partner reads what the steps left, whichever release answers. */
  const overReads = async () => {
    const paths = [
      '/v1/webhooks',
      '/v1/eventos?limite=5',
      `/v1/emprestimos/${loans.sql.id}`,
      `/v1/webhooks/${webhook.id}/entregas?limite=5`,
    ];
    for (const path of paths) await call(path, 200, { headers: ofPartner });
    read.calls += 1;
  };
  const step = async (change: () => unknown): Promise<void> => {
    await change();
    const from = { ...appended, ...read };
    const isDone = () =>
      Math.min(appended.sql - from.sql, appended.http - from.http) >= EVENTS_A_STEP && read.calls > from.calls + 1;
    while (!isDone()) await sleep(PAUSE_MS);
  };

  await fleet.become('this');
  const loading = Promise.all([load(overSql), load(overHttp), load(overReads)]);
  await step(() => undefined);
  await step(() => fleet.run(['migrate'], 'next'));
  await step(() => fleet.become('next'));
  await step(() => fleet.become('this'));
  await step(() => fleet.become('next'));
  const eventos = ['desembolso.falhou', 'desembolso.estornado'];
  await call(`/v1/webhooks/${webhook.id}`, 200, {
    method: 'PATCH',
    headers: ofPartner,
    body: JSON.stringify({ eventos }),
  });
  for (const release of ['next', 'this', 'next', 'this'] as const) await step(() => (core = release));
  await step(() => fleet.become('this'));
  over.abort();
  await loading;
  while ((await sql`select from deliveries where status <> 'entregue' limit 1`).length > 0) await sleep(20);
  await fleet.stop();

  const total = appended.sql + appended.http;
  const bodies = bodiesAt(receiver);
  const { balancer } = fleet;
  console.log(`two releases: ${total} events, ${bodies.length} deliveries, ${balancer.answered} requests answered`);
  expect([faults, balancer.refused]).toEqual([[], []]);
  expect(fleet.codes).toEqual(Array(fleet.codes.length).fill(0));
  const [counts] = await sql`
    select (select count(*)::int from events where type like 'desembolso.%') as events,
           (select count(*)::int from deliveries) as deliveries,
           (select count(*)::int from flights()) as "leases left",
           (select count(*)::int from attempts where outcome <> 'entregue') as "attempts not delivered",
           (select count(*)::int from attempts a join deliveries d on d.id = a.delivery_id join events e on e.id = d.event_id
            where a.started_at - uuid_extract_timestamp(e.id) > lease()) as late`;
  expect(counts).toEqual({ events: total, deliveries: total, 'leases left': 0, 'attempts not delivered': 0, late: 0 });
  const ids = new Set(receiver.posts.map((post) => String(post.headers['x-webhook-delivery'])));
  expect([ids.size, bodies.length]).toEqual([total, total]);
  // What only the next core says is read by the next release's receivers; all else by both.
  const isNew = ({ evento, data }: Body) => evento === 'desembolso.estornado' || data.motivo === null;
  expect(bodies.filter(isNew).length).toBeGreaterThanOrEqual(2 * EVENTS_A_STEP);
  const fits = (body: Body, release: Release) => SCHEMAS[body.evento]?.[release].safeParse(body.data).success;
  expect(bodies.filter((body) => !fits(body, 'next'))).toEqual([]);
  expect(bodies.filter((body) => fits(body, 'this') === isNew(body))).toEqual([]);
});
