/** API and pollers behind PgBouncer in transaction mode, set up as src/main/README.md says. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Installation } from '../../src/db/installation.ts';
import { Pool } from '../../src/db/pool.ts';
import { readHeartbeat } from '../../src/delivery/queue/liveness.ts';
import { callCommand, runCommand, startServing } from '../support/command.ts';
import {
  type CoreDatabase,
  createCoreDatabase,
  environmentOf,
  installationOfItsOwn,
  PASSWORD,
} from '../support/core-database.ts';
import { fetchDescribed } from '../support/described-answers.ts';
import { PGBOUNCER_MINOR, type Pooler, startPooler } from '../support/pooler.ts';
import { startReceiver } from '../support/receiver.ts';
import { snippet } from '../support/snippets.ts';
import { makeTestFolder } from '../support/test-folder.ts';

/** `track_extra_parameters` came with 1.20. */
const tracks = (PGBOUNCER_MINOR ?? 0) >= 20;

let core: CoreDatabase;
let installation: Installation;
let folder: Awaited<ReturnType<typeof makeTestFolder>>;
let environment: Record<string, string>;

beforeAll(async () => {
  core = await createCoreDatabase();
  folder = await makeTestFolder();
  installation = installationOfItsOwn();
  environment = { ...environmentOf(installation, folder.path), DATABASE_PREPARE: 'false' };
  const migrated = await callCommand(['migrate'], { ...environment, DATABASE_URL: core.url });
  if (migrated.code !== 0) throw new Error(migrated.stderr);
  for (const role of ['app', 'poller']) {
    const login = loginOf(role);
    await core.sql.unsafe(
      `create role ${login} login password '${PASSWORD}' in role ${installation.rolePrefix}_${role}`,
    );
  }
});

const loginOf = (role: string) => `${installation.rolePrefix}_${role}_login`;

/** With the lines of the page's `pgbouncer.ini`; `without` leaves one out. */
async function startPooled(without?: RegExp): Promise<Pooler> {
  const lines = (await snippet('pgbouncer.ini', 'src/main/README.md')).split('\n').slice(1);
  return startPooler({
    target: core.url,
    users: Object.fromEntries(['app', 'poller'].map((role) => [loginOf(role), PASSWORD])),
    settings: [...lines.filter((line) => !without?.test(line)), 'default_pool_size = 8'],
  });
}

const LEASE_ALONE = /a pooler stands before the database/g;

/** Registers, sends 20 test deliveries and returns how many POSTs arrived. */
async function deliverThrough(pooler: Pooler): Promise<number> {
  const direct = { ...environment, DATABASE_URL: core.url };
  const created = await callCommand(['partner', 'create', '--name', 'Um'], direct);
  const { id } = JSON.parse(created.stdout) as { id: string };
  const token = await callCommand(['token', '--partner', id, '--scope', 'webhooks:read webhooks:write'], direct);
  const headers = { authorization: `Bearer ${token.stdout.trim()}`, 'content-type': 'application/json' };
  const receiver = await startReceiver();
  const as = (role: string) => ({ ...environment, DATABASE_URL: pooler.urlOf(loginOf(role)) });
  const polling = [1, 2].map(() => startServing('poll', as('poller')));
  const [api, ...polls] = await Promise.all([startServing('api', as('app')), ...polling]);
  const { url } = api;
  const body = JSON.stringify({ url: receiver.url, eventos: ['desembolso.liquidado'] });
  const registered = await fetchDescribed(`${url}/v1/webhooks`, { method: 'POST', headers, body });
  expect(registered.status).toBe(201);
  const webhook = (await registered.json()) as { id: string };
  // All of the API's and the pollers' connections go through the same few sessions.
  const tried = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const listed = await fetchDescribed(`${url}/v1/webhooks`, { headers });
      expect(await listed.json()).toMatchObject([{ id: webhook.id }]);
      return fetchDescribed(`${url}/v1/webhooks/${webhook.id}/teste`, { method: 'POST', headers });
    }),
  );
  expect(tried.map(({ status }) => status)).toEqual(Array(20).fill(200));
  await receiver.received(20);
  expect((await api.end('SIGTERM')).code).toBe(0);
  for (const poll of polls) {
    const { code, stderr } = await poll.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr.match(LEASE_ALONE)).toHaveLength(1);
  }
  await receiver.close();
  return receiver.posts.length;
}

describe.skipIf(PGBOUNCER_MINOR === undefined)(`PgBouncer 1.${PGBOUNCER_MINOR ?? 'x'} in transaction mode`, () => {
  test.skipIf(!tracks)('gives each session its search path, when it tracks it', async () => {
    const pooler = await startPooled();
    expect(await deliverThrough(pooler)).toBe(20);
    await pooler.stop();
  });

  test('without the search path is refused, in a sentence that gives the SQL; after that SQL all works', async () => {
    const pooler = await startPooled(/^track_extra_parameters/);
    const env = { ...environment, DATABASE_URL: pooler.urlOf(loginOf('poller')) };
    const { code, stderr } = await runCommand(['poll'], env);
    expect(code).toBe(1);
    const [, advised = ''] = /run "(alter role [^"]+)"/.exec(stderr) ?? [stderr];
    for (const role of ['app', 'poller']) await core.sql.unsafe(advised.replace('<the login>', loginOf(role)));
    await pooler.stop();
    const again = await startPooled(/^track_extra_parameters/);
    expect(await deliverThrough(again)).toBe(20);
    // Found out as well, where nobody says it.
    const { schema } = installation;
    const place = { name: 'pooled', schema, max: 1, deadlineMs: 10_000, prepare: false };
    const [through, direct] = [again.urlOf(loginOf('poller')), core.url].map((url) => new Pool({ ...place, url }));
    expect(await readHeartbeat(through as Pool, 'pooled')).toBeNull();
    expect(await readHeartbeat(direct as Pool, 'direct')).toMatchObject({ isNew: true, living: 1 });
    await Promise.all([through?.close(1), direct?.close(1)]);
    await again.stop();
  });

  test('every job does through it what it does on the database itself, several at once over the same few sessions', async () => {
    // As the page says for a PgBouncer that does not track the search path.
    await core.sql.unsafe(`alter role ${loginOf('app')} set search_path = ${installation.schema}, pg_temp`);
    const pooler = await startPooled(/^track_extra_parameters/);
    // What these print depends on the time, or on what was done before.
    const others = [['sync-bonds'], ['close-settlement', '2025-01'], ['queue', 'status', '--json']];
    const reading = [
      ['rebuild', '--check'],
      ['partner', 'list', '--json'],
      ['webhook', 'list', '--json'],
    ];
    const runAll = (jobs: readonly string[][], url: string, prepare: string) =>
      Promise.all(jobs.map((job) => runCommand(job, { ...environment, DATABASE_URL: url, DATABASE_PREPARE: prepare })));
    const pooled = await runAll([...others, ...reading], pooler.urlOf(loginOf('app')), 'false');
    expect(pooled.map(({ code, stderr }) => (code === 0 ? code : stderr))).toEqual([0, 0, 0, 0, 0, 0]);
    const direct = await runAll(reading, core.urlOf(loginOf('app')), 'true');
    expect(pooled.slice(others.length).map(({ stdout }) => stdout)).toEqual(direct.map(({ stdout }) => stdout));
    await pooler.stop();
  });
});
