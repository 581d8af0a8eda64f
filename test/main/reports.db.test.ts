/** Reports are read on a real streaming standby, say how far it is behind, and never write. */
import { expect, test } from 'vitest';
import type { Pool } from '../../src/db/pool.ts';
import { onStandby } from '../../src/db/reports.ts';
import { createVault, newSecret } from '../../src/webhooks/secrets.ts';
import { backUp, following, startCluster, untilCaughtUp } from '../support/clusters.ts';
import { callCommand, sandboxOn, startServing } from '../support/command.ts';
import { live } from '../support/lived-database.ts';
import { migrated } from '../support/migrated.ts';
import { commitEvents } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';
import { makeTestFolder } from '../support/test-folder.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { connectTo } from '../support/connect.ts';
import { openPool } from '../support/database.ts';

const LAG: unknown = expect.stringMatching(/^\d+(\.\d)?$/);
const SECRETS_KEY = Buffer.alloc(32, 1);

let auditor: string;
let pools: { readonly primary: Pool; readonly standby: Pool };

const { path: dataDir } = await makeTestFolder();
const receiver = await startReceiver();
const primary = await migrated(startCluster());
const here = connectTo(primary.url);
const pool = openPool(primary.url, { max: 6 });
const lived = await live(pool, here, receiver);
const { partnerId } = lived;
const vault = createVault([SECRETS_KEY]);
const secret = vault.encrypt(lived.webhookId, newSecret());
await here`update webhooks set encrypted_secret = ${secret} where id = ${lived.webhookId}`;
const standby = await (await backUp(primary)).start({ signal: 'standby.signal', settings: following(primary) });
const there = connectTo(standby.url);
await untilCaughtUp(here, there);
pools = { primary: pool, standby: openPool(standby.url, { max: 6 }) };
const way = await TcpProxy.to(standby.url);
const proxy = way.proxy;
const env = sandboxOn(primary.url, {
  READ_DATABASE_URL: way.url,
  SECRETS_KEY: SECRETS_KEY.toString('base64'),
  DATA_DIR: dataDir,
});
const { base } = await startApi();
auditor = await tokenOf(['--scope', 'auditoria:read']);

async function startApi(more: Readonly<Record<string, string>> = {}) {
  const api = await startServing('api', { ...env, ...more });
  while ((await fetch(`${api.url}/readyz`)).status !== 200);
  return { api, base: api.url };
}

async function tokenOf(words: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await callCommand(['token', ...words], env);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

async function read(path: string, { method = 'GET', token = auditor, from = base } = {}) {
  const answer = await fetch(`${from}${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
  const text = await answer.text();
  return { status: answer.status, lag: answer.headers.get('X-Carteiro-Atraso-S'), text };
}

const countEvents = async (from = base) => {
  const { text, lag } = await read('/v1/auditoria/eventos?limite=100', { from });
  const { itens, atraso_s } = JSON.parse(text) as { itens: unknown[]; atraso_s?: number };
  return { count: itens.length, lag: lag === null ? null : Number(lag), atraso_s };
};

test('every report is answered by a server that takes no write, and says how far it is behind', async () => {
  await untilCaughtUp(here, there);
  const [{ id }] = await here<[{ id: string }]>`select id from deliveries where status = 'entregue' limit 1`;
  const day = new Date().toISOString().slice(0, 10);
  const lists = ['tentativas', 'entregas', 'eventos', 'pedidos', 'historico', 'selos'];
  const reports = [
    ...lists.map((name) => `/v1/auditoria/${name}`),
    ...lists.filter((name) => name !== 'entregas').map((name) => `/v1/auditoria/${name}?formato=csv`),
    `/v1/auditoria/balanco?de=${day}&ate=${day}`,
    `/v1/auditoria/entregas/${id}/prova`,
    `/v1/auditoria/entregas/${id}/conferencia`,
    '/v1/auditoria/vereditos',
  ];
  for (const path of reports) {
    const { status, lag, text } = await read(path);
    expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, '']);
    expect([path, lag]).toEqual([path, LAG]);
  }
  const verified = await read('/v1/auditoria/verificacao', { method: 'POST' });
  expect([verified.status, verified.lag, JSON.parse(verified.text)]).toMatchObject([200, LAG, { confere: true }]);
  const partner = await tokenOf(['--partner', partnerId, '--scope', 'webhooks:read']);
  expect(await read('/v1/entregas', { token: partner })).toMatchObject({ status: 200, lag: LAG });
  expect((await read('/metrics')).text).toMatch(/^carteiro_reports_lag_seconds \d/m);
});

/** While the standby replays nothing. */
async function whilePaused(work: () => Promise<void>): Promise<void> {
  await there`select pg_wal_replay_pause()`;
  try {
    await work();
  } finally {
    await there`select pg_wal_replay_resume()`;
    await untilCaughtUp(here, there);
  }
}

test('what the standby does not have yet is told in seconds, though it replays all that it received', async () => {
  const before = await countEvents();
  await whilePaused(async () => {
    await commitEvents(here, partnerId, 1);
    const behind = await countEvents();
    expect(behind.count).toBe(before.count);
    expect(behind.lag).toBeGreaterThan(0);
    expect(behind.atraso_s).toBe(behind.lag);
  });
  expect((await countEvents()).count).toBe(before.count + 1);
  await expect.poll(() => countEvents()).toMatchObject({ lag: 0, atraso_s: 0 });
  const [{ from }] = await there<[{ from: string }]>`select current_setting('primary_conninfo') as "from"`;
  await setSource('');
  while ((await there`select from pg_stat_wal_receiver`).length > 0);
  await commitEvents(here, partnerId, 1);
  expect((await countEvents()).lag).toBeGreaterThan(0);
  await setSource(from);
  await untilCaughtUp(here, there);
});

async function setSource(from: string): Promise<void> {
  await there.unsafe(`alter system set primary_conninfo = '${from}'`);
  await there`select pg_reload_conf()`;
}

test('the commands verify and balance read there too, and keep their verdicts on the primary', async () => {
  const day = new Date().toISOString().slice(0, 10);
  const verdicts = async () => (await here`select from verify_verdicts`).length;
  const before = await verdicts();
  for (const words of [['verify'], ['balance', '--from', day, '--to', day]]) {
    const { code, stderr } = await callCommand(['audit', ...words], env);
    expect([words, code, code === 0 ? '' : stderr]).toEqual([words, 0, '']);
  }
  expect(await verdicts()).toBeGreaterThanOrEqual(before);
  await whilePaused(async () => {
    const { stdout: head } = await callCommand(['audit', 'seal'], env).then(() => callCommand(['audit', 'head'], env));
    const ahead = await callCommand(['audit', 'verify', '--head', head.trim()], env);
    expect([ahead.code, JSON.parse(ahead.stdout)]).toMatchObject([0, { confere: true, achados: [] }]);
  });
});

test('while it is away reports fall back to the primary, or are 503 where that was asked for', async () => {
  const strict = await startApi({ READ_DATABASE_FALLBACK: 'false' });
  try {
    expect((await countEvents(strict.base)).lag).not.toBeNull();
    await proxy.close();
    expect((await countEvents()).lag).toBeNull();
    expect(await read('/v1/auditoria/eventos', { from: strict.base })).toMatchObject({ status: 503 });
    expect(await read('/v1/auditoria/vereditos', { from: strict.base })).toMatchObject({ status: 503 });
  } finally {
    await strict.api.end('SIGTERM');
  }
});

test('one that was promoted, or is none of ours, is not read', async () => {
  let atMs = 0;
  const options = { ...pools, fallsBack: true, log: silentLog, monotonicMs: () => atMs };
  const reports = onStandby(options);
  expect((await reports()).pool).toBe(pools.standby);
  expect((await onStandby({ ...options, standby: pools.primary })()).lagS).toBeNull();
  await whilePaused(async () => {
    await here`update installation set system_identifier = system_identifier + 1`;
    expect((await reports()).pool).toBe(pools.primary);
    await here`update installation set system_identifier = system_identifier - 1`;
  });
  expect((await reports()).pool).toBe(pools.primary);
  atMs = 60_000;
  expect((await reports()).pool).toBe(pools.standby);
  await there`select pg_promote()`;
  expect((await reports()).pool).toBe(pools.primary);
});
