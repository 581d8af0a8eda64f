/** The programs of src/log/FRAMEWORKS.md run as they stand there, with nothing but the core's role. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import {
  FRAMEWORK_PROGRAMS,
  FRAMEWORKS_PAGE,
  prepareProgram,
  PROPAGATION,
  type Settle,
} from '../support/core-programs.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { insertSubscriber } from '../support/outbox.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { silentLog } from '../support/silent-log.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const LEVELS = ['read committed', 'repeatable read', 'serializable'];
const WRITERS = 8;
const database = await createTestDatabase();
const { sql } = database;
const logins = await Promise.all(LEVELS.map(() => createLogin(database, 'carteiro_core')));
for (const [index, { url }] of logins.entries())
  await sql`alter role ${sql(new URL(url).username)} set default_transaction_isolation = ${sql.unsafe(`'${LEVELS[index]}'`)}`;
const { partnerId } = await insertSubscriber(sql, 'https://partner.example/', ['desembolso.liquidado']);
const urlOf = (writer: number) => (logins[writer % LEVELS.length] as Login).url;

describe.each(FRAMEWORK_PROGRAMS)('%s', (name) => {
  let settle: Settle | string;
  beforeAll(async () => void (settle = await prepareProgram(name)));

  test('appends, and says why it is refused', async (context: TestContext) => {
    if (typeof settle === 'string') context.skip(settle);
    const loan = randomUUID();
    expect(await settle(urlOf(0), loan, partnerId)).toMatch(/[0-9a-f]{8}-[0-9a-f-]{27} 1\b/);
    const events = await sql`select version, actor, data from events where stream = ${loan}`;
    expect(events).toMatchObject([
      { version: 1, actor: 'core-banking', data: { emprestimo_id: loan, valor_liberado: 5000.5 } },
    ]);
    await expect(settle(urlOf(0), loan, randomUUID())).rejects.toThrow(/there is no partner/);
  });

  test('eight of them on one loan, at three isolation levels: each appends once', async (context: TestContext) => {
    if (typeof settle === 'string') context.skip(settle);
    const one = settle;
    const loan = randomUUID();
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => one(urlOf(writer), loan, partnerId)));
    const [counted] = await sql`
      select count(*)::int as events, max(version) as version, count(distinct version)::int as versions
      from events where stream = ${loan}`;
    expect(counted).toEqual({ events: WRITERS, version: WRITERS, versions: WRITERS });
  });
});

test('in Spring, REQUIRES_NEW on one stream waits until lock_timeout, and NESTED keeps what was decided', async (context: TestContext) => {
  const show = await prepareProgram(PROPAGATION);
  if (typeof show === 'string') context.skip(show);
  for (const [level, nested] of [
    [0, 'CT409 appended'],
    [1, '40001 40001'],
    [2, '40001 40001'],
  ] as const) {
    const user = new URL(urlOf(level)).username;
    await sql`alter role ${sql(user)} set lock_timeout = '200ms'`;
    expect(await show(urlOf(level), randomUUID(), partnerId)).toBe(`REQUIRES_NEW 55P03\nNESTED ${nested}\n`);
  }
});

test('a number that Django sends is not in the server’s log where the page’s two settings are made, and is without them', async (context: TestContext) => {
  const settle = await prepareProgram('settle_django.py');
  if (typeof settle === 'string') context.skip(settle);
  const server = await startPrivateServer({ log_min_duration_statement: '0' });
  await migrate(server.url, silentLog);
  const admin = postgres(server.url, { max: 1, connection: { search_path: 'carteiro' }, onnotice: () => undefined });
  const own = await insertSubscriber(admin);
  const login = await createLogin({ sql: admin, url: server.url }, 'carteiro_core');
  const log = async () =>
    (
      await admin<[{ log: string }]>`select pg_read_file(current_setting('data_directory') || '/../server.log') as log`
    )[0].log;
  const loan = randomUUID();
  await settle(login.url, loan, own.partnerId);
  expect(await log()).toContain(`"emprestimo_id": "${loan}"`);
  await admin`alter role ${admin(new URL(login.url).username)} set log_parameter_max_length = 0`;
  const quiet = randomUUID();
  await settle(login.url, quiet, own.partnerId);
  expect(await log()).not.toContain(`"emprestimo_id": "${quiet}"`);
});

test('it has no program but those that are run', async () => {
  const text = await readFile(path.join(ROOT, FRAMEWORKS_PAGE), 'utf8');
  const opened = [...text.matchAll(/^```\w+ (.+)$/gm)].map(([, name]) => name);
  expect(new Set(opened)).toEqual(new Set([...FRAMEWORK_PROGRAMS, PROPAGATION, 'pom.xml', 'Cargo.toml']));
});
