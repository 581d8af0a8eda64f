/** API and pollers behind PgBouncer in transaction mode, set up as src/main/README.md says. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Installation } from '../../src/db/installation.ts';
import { Pool } from '../../src/db/pool.ts';
import { readPulse } from '../../src/delivery/queue/sign-of-life.ts';
import { runCommand, startCommand } from '../support/command.ts';
import {
  type CoreDatabase,
  createCoreDatabase,
  environmentOf,
  installationOfItsOwn,
  PASSWORD,
} from '../support/core-database.ts';
import { fetchDescribed } from '../support/described-answers.ts';
import { startReceiver } from '../support/receiver.ts';
import { snippet } from '../support/snippets.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const PGBOUNCER = process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer';
/** Undefined where there is none. */
const version = /PgBouncer (\d+\.\d+)/.exec(String(spawnSync(PGBOUNCER, ['--version']).stdout))?.[1];
if (version === undefined) console.info(`skipped: there is no ${PGBOUNCER} (apt-get install pgbouncer)`);
/** `track_extra_parameters` came with 1.20. */
const tracks = version !== undefined && Number(version.split('.')[1]) >= 20;
/** PgBouncer refuses to run as root: Debian's `nobody`. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let core: CoreDatabase;
let installation: Installation;
let folder: Awaited<ReturnType<typeof makeTestFolder>>;
let environment: Record<string, string>;

beforeAll(async () => {
  core = await createCoreDatabase();
  folder = await makeTestFolder();
  installation = installationOfItsOwn();
  environment = { ...environmentOf(installation, folder.path), DATABASE_PREPARE: 'false' };
  const migrated = await runCommand(['migrate'], { ...environment, DATABASE_URL: core.url });
  if (migrated.code !== 0) throw new Error(migrated.stderr);
  for (const role of ['app', 'poller']) {
    const login = loginOf(role);
    await core.sql.unsafe(
      `create role ${login} login password '${PASSWORD}' in role ${installation.rolePrefix}_${role}`,
    );
  }
});
afterAll(async () => {
  await core.drop();
  await folder.remove();
});

const loginOf = (role: string) => `${installation.rolePrefix}_${role}_login`;

interface Pooler {
  urlOf(login: string): string;
  stop(): Promise<void>;
}

/** With the lines of the page's `pgbouncer.ini`; `without` leaves one out. */
async function startPooler(without?: RegExp): Promise<Pooler> {
  const { hostname, port } = new URL(core.url);
  const own = createServer().listen(0, '127.0.0.1');
  await once(own, 'listening');
  const { port: listenPort } = own.address() as AddressInfo;
  await new Promise((resolve) => own.close(resolve));
  const home = await makeTestFolder();
  const { path } = home;
  const settings = (await snippet('pgbouncer.ini', 'src/main/README.md'))
    .split('\n')
    .filter((line) => !without?.test(line));
  const users = ['app', 'poller'].map((role) => `"${loginOf(role)}" "${PASSWORD}"`);
  await writeFile(join(path, 'users.txt'), users.join('\n'));
  const place = [`auth_file = ${join(path, 'users.txt')}`, 'listen_addr = 127.0.0.1', `listen_port = ${listenPort}`];
  const databases = ['[databases]', `${core.name} = host=${hostname} port=${port}`];
  const rest = ['auth_type = scram-sha-256', 'unix_socket_dir =', 'default_pool_size = 8'];
  await writeFile(join(path, 'pgbouncer.ini'), [...databases, ...settings, ...place, ...rest].join('\n'));
  if (NOBODY.uid !== undefined) {
    await chmod(path, 0o755);
    await chown(join(path, 'users.txt'), NOBODY.uid, NOBODY.gid);
  }
  const child = spawn(PGBOUNCER, [join(path, 'pgbouncer.ini')], { ...NOBODY, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('process up')) resolve();
    });
    child.on('error', reject);
    void exited.then(() => reject(new Error(`pgbouncer ended: ${lines.join('\n')}`)));
  });
  return {
    urlOf: (login) => `postgres://${login}:${PASSWORD}@127.0.0.1:${listenPort}/${core.name}`,
    async stop() {
      child.kill('SIGINT');
      await exited;
      await home.remove();
    },
  };
}

const LEASE_ALONE = /a pooler stands before the database/g;

/** Registers, sends 20 test deliveries and returns how many POSTs arrived. */
async function deliverThrough(pooler: Pooler): Promise<number> {
  const direct = { ...environment, DATABASE_URL: core.url };
  const created = await runCommand(['partner', 'create', '--name', 'Um'], direct);
  const { id } = JSON.parse(created.stdout) as { id: string };
  const token = await runCommand(['token', '--partner', id, '--scope', 'webhooks:read webhooks:write'], direct);
  const headers = { authorization: `Bearer ${token.stdout.trim()}`, 'content-type': 'application/json' };
  const receiver = await startReceiver();
  const api = startCommand(['api'], { ...environment, DATABASE_URL: pooler.urlOf(loginOf('app')) });
  const polls = [1, 2].map(() =>
    startCommand(['poll'], { ...environment, DATABASE_URL: pooler.urlOf(loginOf('poller')) }),
  );
  const [, url] = /"url":"(http:[^"]+)"/.exec(await api.log(/the API listens/)) ?? [];
  for (const poll of polls) await poll.log(/the poller delivers/);
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

describe.skipIf(version === undefined)(`PgBouncer ${version} in transaction mode`, () => {
  test.skipIf(!tracks)('gives each session its search path, when it tracks it', async () => {
    const pooler = await startPooler();
    expect(await deliverThrough(pooler)).toBe(20);
    await pooler.stop();
  });

  test('without the search path is refused, in a sentence that gives the SQL; after that SQL all works', async () => {
    const pooler = await startPooler(/^track_extra_parameters/);
    const env = { ...environment, DATABASE_URL: pooler.urlOf(loginOf('poller')) };
    const { code, stderr } = await runCommand(['poll'], env);
    expect(code).toBe(1);
    const [, advised = ''] = /run "(alter role [^"]+)"/.exec(stderr) ?? [stderr];
    for (const role of ['app', 'poller']) await core.sql.unsafe(advised.replace('<the login>', loginOf(role)));
    await pooler.stop();
    const again = await startPooler(/^track_extra_parameters/);
    expect(await deliverThrough(again)).toBe(20);
    // Found out as well, where nobody says it.
    const { schema } = installation;
    const place = { name: 'pooled', schema, max: 1, deadlineMs: 10_000, prepare: false };
    const [through, direct] = [again.urlOf(loginOf('poller')), core.url].map((url) => new Pool({ ...place, url }));
    expect(await readPulse(through as Pool, 'pooled')).toBeNull();
    expect(await readPulse(direct as Pool, 'direct')).toMatchObject({ isNew: true, living: [expect.any(Number)] });
    await Promise.all([through?.close(1), direct?.close(1)]);
    await again.stop();
  });

  test('every job does through it what it does on the database itself, several at once over the same few sessions', async () => {
    // As the page says for a PgBouncer that does not track the search path.
    await core.sql.unsafe(`alter role ${loginOf('app')} set search_path = ${installation.schema}, pg_temp`);
    const pooler = await startPooler(/^track_extra_parameters/);
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
    expect(pooled.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
    const direct = await runAll(reading, core.urlOf(loginOf('app')), 'true');
    expect(pooled.slice(others.length).map(({ stdout }) => stdout)).toEqual(direct.map(({ stdout }) => stdout));
    await pooler.stop();
  });
});
