/** Somebody else's server: a login that is no superuser, without pg_control_*; and a switch to a server that was filled by logical replication. */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { readServerFault } from '../../src/db/known-server.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import type { Sql } from '../../src/db/pool.ts';
import { adoptServer } from '../../src/main/commands/installation.ts';
import { connectTo } from '../support/connect.ts';
import { openPool } from '../support/database.ts';
import { deliverAll, expectToGoOn, live, readOn } from '../support/lived-database.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { FAILED_DISBURSEMENT, LOAN } from '../support/payloads.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { snippet } from '../support/snippets.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';

const PASSWORD = 'a-password-for-tests';
const connect = (url: string) => connectTo(url, { connection: {} });

function as(url: string, user: string, database: string): string {
  const own = new URL(url);
  [own.username, own.password, own.pathname] = [user, PASSWORD, `/${database}`];
  return own.href;
}

const append = (sql: Sql, partnerId: string, stream: string) => sql`
  select fan_out from carteiro.append_event(${stream}, 0, 'desembolso.falhou', ${partnerId},
                                            ${FAILED_DISBURSEMENT.replaceAll(LOAN, stream)}::text::json, 'core')`;

test('an owner that is no superuser, where nobody but a superuser may call pg_control_*, migrates; its core appends, its poller delivers, and its api seals', async () => {
  const server = await startPrivateServer();
  const admin = connect(server.url);
  await admin.unsafe(`create role master login password '${PASSWORD}' createrole createdb`);
  await admin.unsafe('create database managed owner master');
  const there = connect(as(server.url, 'master', 'managed'));
  const root = new URL(server.url);
  root.pathname = '/managed';
  const superuser = connectTo(root.href);
  await superuser.unsafe(`
    revoke execute on function pg_control_system(), pg_control_checkpoint(), pg_control_init(), pg_control_recovery() from public`);
  await migrate(as(server.url, 'master', 'managed'), silentLog);
  await there.unsafe(`create role core_login login password '${PASSWORD}' in role carteiro_core`);
  const receiver = await startReceiver();
  const { partnerId } = await insertSubscriber(connectTo(root.href), receiver.url);
  const core = connect(as(server.url, 'core_login', 'managed'));
  expect(await append(core, partnerId, randomUUID())).toEqual([{ fan_out: 1 }]);
  const app = as(server.url, 'app_login', 'managed');
  await there.unsafe(`create role app_login login password '${PASSWORD}' in role carteiro_app`);
  const pool = openPool(app);
  expect(await pool.run(readServerFault)).toBeNull();
  await there.unsafe(`create role poll_login login password '${PASSWORD}' in role carteiro_poller`);
  await deliverAll(openPool(as(server.url, 'poll_login', 'managed')));
  expect(receiver.posts).toHaveLength(1);
  await untilSettled(superuser);
  await sealAll(pool);
  expect(await verifySeals(pool)).toMatchObject({ findings: [] });
});

test('a switch to a server that logical replication has filled waits for adopt with words that say so, and goes on', async () => {
  const receiver = await startReceiver();
  const [blue, green] = [
    await startPrivateServer({ wal_level: 'logical' }),
    await startPrivateServer({ wal_level: 'logical' }),
  ];
  for (const { url } of [blue, green]) await migrate(url, silentLog);
  const [before, after] = [openPool(blue.url), openPool(green.url)];
  const [there, here] = [connectTo(blue.url), connectTo(green.url)];
  const page = 'src/main/README.md';
  await there.unsafe(await snippet('blue.sql', page));
  const from = new URL(blue.url);
  const source = `host=${from.hostname} port=${from.port} dbname=${from.pathname.slice(1)} user=${from.username} password=${from.password}`;
  for (const statement of (await snippet('green.sql', page))
    .replace('host=blue dbname=core', source)
    .split(/;\n(?=create)/))
    await here.unsafe(statement);
  const lived = await live(before, there, receiver);
  const read = await readOn(before, lived.partnerId);
  const isFilled = async () => {
    const [{ open }] = await here<
      [{ open: boolean }]
    >`select exists (select from pg_subscription_rel where srsubstate <> 'r') as open`;
    return !open && JSON.stringify(await report(here)) === wanted;
  };
  const report = (sql: Sql) => sql<{ events: number; attempts: number; done: number }[]>`
    select (select count(*)::int from events) as events, (select count(*)::int from attempts) as attempts,
           (select count(*)::int from deliveries where status <> 'pendente') as done`;
  const wanted = JSON.stringify(await report(there));
  while (!(await isFilled())) await nextTick();
  await here.unsafe('drop subscription carteiro_move');
  expect(await after.run(readServerFault)).toBe('copy');
  await expect(commitEvents(here, lived.partnerId, 1)).rejects.toMatchObject({
    code: 'CT503',
    message: 'this database is a copy: it was written on another server',
    hint: expect.stringContaining('run the command adopt') as string,
  });
  expect((await adoptServer(after, 'carteiro_owner')).summary).toMatchObject({ adopted: true });
  await expectToGoOn(after, here, lived, read);
});
