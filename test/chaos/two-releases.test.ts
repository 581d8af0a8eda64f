/**
 * Two releases side by side: the next one, whose `desembolso.falhou` has one optional key more, replaces this one step by step
 * under load, and goes back; every process is real.
 */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { disbursementFailed } from '../../src/contract/payloads.ts';
import { registeredLoan } from '../core/disbursed-loans.ts';
import { createPartner } from '../core/loan-world.ts';
import { Balancer } from '../support/balancer.ts';
import { type RunningCommand, startCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const HERE = resolve(import.meta.dirname, '../..');
/** What each load appends before the next step. */
const EVENTS_A_STEP = 20;
const PAUSE_MS = 10;

type Release = 'this' | 'next';

/** The schemas that receivers of the two releases hold: both let keys pass that they do not know. */
const CHECKS = [
  z.looseObject(disbursementFailed.shape),
  z.looseObject({ ...disbursementFailed.shape, canal: z.enum(['web', 'app']).optional() }),
];

/** The next release: this one's files, with one optional key more. */
async function makeNext(folder: string): Promise<void> {
  for (const name of ['src', 'drizzle', 'package.json'])
    await cp(join(HERE, name), join(folder, name), { recursive: true });
  await symlink(join(HERE, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'src/contract/payloads.ts');
  const now = await readFile(file, 'utf8');
  const next = now.replace(
    /(disbursementFailed = z\.strictObject\(\{[^}]*)\}\)/,
    "$1  canal: z.enum(['web', 'app']).optional(),\n})",
  );
  expect(next).not.toBe(now);
  await writeFile(file, next);
}

test('schema, API and pollers, core, and back one step at each point, under load: 0 errors, 0 events lost', async () => {
  const database = await createTestDatabase();
  const folder = await makeTestFolder();
  const receiver = await startReceiver();
  const balancer = new Balancer();
  const { sql, pool, url } = database;
  onTestFinished(async () => {
    await balancer.close();
    await receiver.close();
    await database.drop();
    await folder.remove();
  });
  const nextFolder = join(folder.path, 'next');
  await makeNext(nextFolder);
  const main = { this: join(HERE, 'src/main.ts'), next: join(nextFolder, 'src/main.ts') };
  const env = {
    DATABASE_URL: url,
    DATA_DIR: folder.path,
    SANDBOX: 'true',
    ALLOW_INSECURE_TARGETS: 'true',
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: '0',
    DRAIN_DELAY_SECONDS: '3',
  };
  const partner = await createPartner(sql);
  await insertEncryptedWebhook(sql, partner.partnerId, receiver.url);
  const { stdout } = await startCommand(['token', '--scope', 'nucleo', '--ttl', '24h'], env).end();
  const headers = { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' };

  const codes: (number | null)[] = [];
  let running: readonly RunningCommand[] = [];
  /** The next ones are ready before those before them are told to stop. */
  const run = async (release: Release): Promise<void> => {
    const before = running;
    const api = startCommand(['api'], env, main[release]);
    const poller = startCommand(['poll'], env, main[release]);
    const [, at = ''] = /"url":"(http:[^"]+)"/.exec(await api.log(/the API listens/)) ?? [];
    await balancer.add(at);
    await poller.log(/the poller delivers/);
    running = [api, poller];
    for (const old of before) codes.push((await old.end('SIGTERM')).code);
  };

  let core: Release = 'this';
  const appended = { sql: 0, http: 0 };
  const faults: string[] = [];
  const over = new AbortController();
  const load = async (kind: keyof typeof appended, append: (loanId: string) => Promise<unknown>): Promise<void> => {
    const loan = await registeredLoan(pool, partner);
    while (!over.signal.aborted) {
      await append(loan.id).catch((error: Error) => faults.push(error.message));
      appended[kind] += 1;
      await sleep(PAUSE_MS);
    }
  };
  const overHttp = (id: string) =>
    balancer.send(`/v1/nucleo/emprestimos/${id}/desembolso`, {
      method: 'POST',
      headers,
      body: '{"resultado":"falhou"}',
    });
  const overSql = async (id: string) => {
    const data = { emprestimo_id: id, numero_emprestimo: '2026-00000001', motivo: 'conta encerrada' };
    const sent = JSON.stringify(core === 'next' ? { ...data, canal: 'app' } : data);
    await sql`
      select append_event(${id}, stream_version(${id}), 'desembolso.falhou', ${partner.partnerId}, ${sent}::text::json, 'core')`;
  };
  const step = async (change: () => unknown): Promise<void> => {
    await change();
    const from = { ...appended };
    while (appended.sql < from.sql + EVENTS_A_STEP || appended.http < from.http + EVENTS_A_STEP) await sleep(PAUSE_MS);
  };
  const migrateTo = async (release: Release) =>
    codes.push((await startCommand(['migrate'], env, main[release]).end()).code);

  await run('this');
  const loading = Promise.all([load('sql', overSql), load('http', overHttp)]);
  await step(() => undefined);
  await step(() => migrateTo('next'));
  await step(() => run('next'));
  await step(() => run('this'));
  await step(() => run('next'));
  await step(() => (core = 'next'));
  await step(() => (core = 'this'));
  await step(() => (core = 'next'));
  await step(() => (core = 'this'));
  await step(() => run('this'));
  over.abort();
  await loading;
  while ((await sql`select from deliveries where status <> 'entregue' limit 1`).length > 0) await sleep(20);
  for (const old of running) codes.push((await old.end('SIGTERM')).code);

  const total = appended.sql + appended.http;
  const bodies = receiver.posts.map(({ body }) => JSON.parse(String(body)) as { data: object });
  console.log(`two releases: ${total} events, ${bodies.length} deliveries, ${balancer.answered} requests answered`);
  expect([faults, balancer.refused]).toEqual([[], []]);
  expect(codes).toEqual(Array(codes.length).fill(0));
  const [log] = await sql`
    select count(*)::int as events, count(*) filter (where data ->> 'canal' = 'app')::int >= ${2 * EVENTS_A_STEP} as canal
    from events where type = 'desembolso.falhou'`;
  expect(log).toEqual({ events: total, canal: true });
  const ids = new Set(receiver.posts.map((post) => String(post.headers['x-webhook-delivery'])));
  expect([ids.size, bodies.length]).toEqual([total, total]);
  for (const { data } of bodies) for (const check of CHECKS) expect(check.safeParse(data).success).toBe(true);
});
