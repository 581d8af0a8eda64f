/**
 * src/log/GOLIVE.md, as it stands there: a core's loans go live, come back out without a trace, and go live again.
 *
 * LOANS sets how many; the page's own number unless it is set.
 */
import { createHash } from 'node:crypto';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { dayOf, monthsBefore } from '../../src/contract/calendar.ts';
import { SANDBOX_KEY, sandboxOn, startCommand } from '../support/command.ts';
import { fingerprintOf } from '../support/core-database.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePorts } from '../support/free-ports.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { folderWith, isThere, run, snippet } from '../support/snippets.ts';

const PAGE = 'src/log/GOLIVE.md';
const ROOT = path.resolve(import.meta.dirname, '../..');
const LOANS = Number(process.env['LOANS'] ?? 20_000);
/** Each loan has five events but the 100 that are not paid out. */
const EVENTS = 5 * LOANS - 100;
const PASSWORD = 'a-password-for-tests';
const INSTALLATION = { schema: 'carteiro', rolePrefix: 'carteiro' };
const today = dayOf(new Date());
const month = monthsBefore(today, 1).slice(0, 7);

const isReady = (await isThere(['psql', '--version'])) && (await isThere(['curl', '--version']));
const pids = new Set<number>();
afterAll(() => {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
});

const text = await readFile(path.join(ROOT, PAGE), 'utf8');
const names = [...text.matchAll(/^```\w+ (.+)$/gm)].map(([, name = '']) => name);

/** A core on a server of its own, and the page's files in a folder that looks like the repository's. */
async function startCore() {
  const server = await startPrivateServer();
  const admin = new URL(server.url);
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(`create role core_banking login password '${PASSWORD}'`);
  await sql.unsafe((await snippet('example-core.sql', PAGE)).replace(':loans', String(LOANS)));
  const folder = await folderWith(
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, await snippet(name, PAGE)] as const))),
  );
  for (const part of ['package.json', 'node_modules', 'src', 'drizzle'])
    await symlink(path.join(ROOT, part), path.join(folder.path, part));
  const [port, metricsPort] = await freePorts(2);
  const receiver = await startReceiver();
  const registry = startCommand(['registry', 'serve', '--port', '0'], sandboxOn((await createTestDatabase()).url));
  const [, registryUrl = ''] = /(http:\/\/\S+)/.exec(await registry.output(/http:\/\/\S+:\d+/)) ?? [];
  const at = `${admin.host}${admin.pathname}`;
  const env = {
    SERVER: at,
    ADMIN_URL: `postgres://${admin.username}:${admin.password}@${at}`,
    CORE_URL: `postgres://core_banking:${PASSWORD}@${at}`,
    PASSWORD,
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    RECEIVER: receiver.url,
    CLOSED_UNTIL: month,
    MONTH: month,
    REGISTRY_URL: registryUrl,
    LOAN_CORE: 'outside',
    SANDBOX: 'true',
    ALLOW_INSECURE_TARGETS: 'true',
    SECRETS_KEY: SANDBOX_KEY.toString('base64'),
    DATA_DIR: path.join(folder.path, 'data'),
    LOG_LEVEL: 'warn',
  };
  return { sql, folder, receiver, registry, env, server };
}

const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');
const lastOf = (printed: string) => JSON.parse(printed.trim().split('\n').at(-1) ?? '') as object;

test('a core goes live by the page, comes back out without a trace, and goes live again', async (context) => {
  if (!isReady) context.skip('there is no psql, or no curl');
  const { sql, folder, receiver, registry, env, server } = await startCore();
  const took: Record<string, number> = {};
  const step = async (name: string) => {
    const begun = performance.now();
    const printed = await run(['sh', '-e', name], folder.path, '', env);
    took[name] = Math.round((performance.now() - begun) / 100) / 10;
    return printed;
  };
  const readCore = async () => ({
    objects: (await fingerprintOf(sql, INSTALLATION)).filter((row) => !/carteiro/.test(row)),
    loans: digest(await sql`select * from core.loans where number <> '2025-00000001' order by id`),
  });
  const before = await readCore();
  for (const round of [1, 2]) {
    await sql`update core.loans set paid_at = null where number = '2025-00000001'`;
    receiver.posts.length = 0;
    expect(await step('1-roles.sh')).toBe('migrated\n');
    const partners = (await step('2-partners.sh')).trim().split('\n').map(lastOf);
    expect(partners.map((partner) => (partner as { name: string }).name).toSorted()).toEqual(
      [1, 2, 3].map((n) => `Parceiro ${n}`),
    );
    await step('3-processes.sh');
    for (const file of ['api.pid', 'poll.pid']) pids.add(Number(await readFile(path.join(folder.path, file), 'utf8')));
    const webhooks = (await step('3-webhooks.sh')).trim().split('\n').map(lastOf);
    expect(webhooks.map((webhook) => (webhook as { secret: string }).secret.slice(0, 6))).toEqual([
      'whsec_',
      'whsec_',
      'whsec_',
    ]);
    await step('4-bridge.sh');
    const rehearsed = (await step('5-rehearsal.sh'))
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map(lastOf);
    expect(rehearsed).toContainEqual({ lines: EVENTS, faults: 0, warnings: 0 });
    expect(rehearsed).toContainEqual(expect.objectContaining({ lines: EVENTS, appended: EVENTS, warnings: 0 }));
    await step('5-back.sh');
    expect(lastOf(await step('6-history.sh'))).toMatchObject({ events: EVENTS, appended: EVENTS, warnings: 0 });
    await sql`update core.loans set paid_at = now() - interval '1 minute' where number = '2025-00000002'`;
    expect(lastOf(await step('7-delta.sh'))).toMatchObject({ events: EVENTS + 1, appended: 1 });
    expect(await step('8-switch.sh')).toMatch(/\| +1\n/);
    await step('8-revoke.sh');
    const { posts } = receiver;
    await receiver.received(1);
    expect(posts[0]?.headers).toMatchObject({
      'x-webhook-event': 'desembolso.liquidado',
      'x-webhook-loan-version': '5',
    });
    const night = await step('9-night.sh');
    expect(night).toMatch(/"confere": ?true/);
    expect(night).toMatch(/"fecha": ?true/);
    expect(await step('10-month.sh')).toMatch(/\| +1\n/);
    await receiver.received(2);
    expect(posts.map(({ headers }) => headers['x-webhook-event'])).toEqual([
      'desembolso.liquidado',
      'repasse.processado',
    ]);
    await step('back.sh');
    await sql`update core.loans set paid_at = null where number = '2025-00000002'`;
    expect(await readCore(), `round ${round}`).toEqual(before);
  }
  process.stderr.write(`${LOANS} loans: ${JSON.stringify(took)}\n`);
  await registry.end('SIGTERM');
  await sql.end({ timeout: 1 });
  await receiver.close();
  await server.remove();
});

test('each block of the page is run', () => {
  expect(names.filter((name) => /^\d|^back/.test(name)).toSorted()).toEqual(
    [
      '1-roles.sh',
      '2-partners.sh',
      '3-processes.sh',
      '3-webhooks.sh',
      '4-bridge.sh',
      '5-rehearsal.sh',
      '5-back.sh',
      '6-history.sh',
      '7-delta.sh',
      '8-switch.sh',
      '8-revoke.sh',
      '9-night.sh',
      '10-month.sh',
      'back.sh',
    ].toSorted(),
  );
});
