/** The programs of src/log/README.md run as they stand there, with nothing but the core's role. */
import { randomUUID } from 'node:crypto';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { ROLES } from '../../src/db/installation.ts';
import { preparationFor } from '../../src/db/migrations/migration-refused.ts';
import { EVENTS } from '../../src/contract/events.ts';
import { LOAN_STATUSES } from '../../src/contract/statuses.ts';
import { CORE_PAGE, CORE_PROGRAMS, prepareProgram, type Settle } from '../support/core-programs.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { insertPartner, insertSubscriber } from '../support/outbox.ts';
import { folderWith, isThere, run, snippet } from '../support/snippets.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Of the eight writers on one loan. */
const LEVELS = ['read committed', 'repeatable read', 'serializable'];
const WRITERS = 8;
const database = await createTestDatabase();
const { sql } = database;
const logins = await Promise.all(LEVELS.map(() => createLogin(database, 'carteiro_core')));
for (const [index, { url }] of logins.entries())
  await sql`alter role ${sql(new URL(url).username)} set default_transaction_isolation = ${sql.unsafe(`'${LEVELS[index]}'`)}`;
const { partnerId } = await insertSubscriber(sql, 'https://partner.example/', ['desembolso.liquidado']);

const urlOf = (writer: number) => (logins[writer % LEVELS.length] as Login).url;

/** While one transaction has appended to the loan and stays open, until `count` others wait for its end. */
async function whileHeld(loan: string, count: number, begin: () => Promise<string>[]): Promise<string[]> {
  const session = await database.sql.reserve();
  await session`begin`;
  await session`
    select append_event(${loan}, 0, 'desembolso.falhou', ${partnerId},
                        json_build_object('emprestimo_id', ${loan}::uuid, 'numero_emprestimo', '2026-00000001', 'motivo', 'x'), 'core')`;
  const settled = Promise.all(begin());
  for (let waiting = 0; waiting < count; await Promise.race([sleep(20), settled]))
    [{ waiting }] = await database.sql<[{ waiting: number }]>`
      select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
  await session`commit`;
  session.release();
  return settled;
}

describe.each(CORE_PROGRAMS)('%s', (name) => {
  let settle: Settle | string;
  beforeAll(async () => void (settle = await prepareProgram(name)));

  test('appends, twice, and says why it is refused', async (context: TestContext) => {
    if (typeof settle === 'string') context.skip(settle);
    const loan = randomUUID();
    expect(await settle(urlOf(0), loan, partnerId)).toMatch(/[0-9a-f]{8}-[0-9a-f-]{27}[ |]+1\b/);
    await settle(urlOf(0), loan, partnerId);
    const events = await database.sql`select version, actor, data from events where stream = ${loan} order by version`;
    expect(events).toMatchObject([
      { version: 1, actor: 'core-banking', data: { emprestimo_id: loan, valor_liberado: 5000.5 } },
      { version: 2 },
    ]);
    await expect(settle(urlOf(0), loan, randomUUID())).rejects.toThrow(/there is no partner/);
    expect(await database.sql`select from events where stream = ${loan}`).toHaveLength(2);
  });

  test('eight of them on one loan, at three isolation levels, that all begin with one version: each appends once', async (context: TestContext) => {
    if (typeof settle === 'string') context.skip(settle);
    const one = settle;
    const loan = randomUUID();
    await whileHeld(loan, WRITERS, () =>
      Array.from({ length: WRITERS }, (_, writer) => one(urlOf(writer), loan, partnerId)),
    );
    const [counted] = await database.sql`
      select count(*)::int as events, max(version) as version, count(distinct version)::int as versions
      from events where stream = ${loan}`;
    expect(counted).toEqual({ events: WRITERS + 1, version: WRITERS + 1, versions: WRITERS + 1 });
  });
});

test('its number is the next one of our own series, and its time-outs are settings', async () => {
  const core = connectTo(urlOf(0), { connection: {} });
  const number = await snippet('number.sql', CORE_PAGE);
  expect([...(await core.unsafe(number)), ...(await core.unsafe(number))]).toEqual([
    { number: '2026-00000001' },
    { number: '2026-00000002' },
  ]);
  const login = new URL(urlOf(0)).username;
  const { sql } = database;
  await sql.unsafe((await snippet('timeouts.sql', CORE_PAGE)).replaceAll('core_banking', login));
  const [role] = await sql`select rolconfig from pg_roles where rolname = ${login}`;
  expect(role).toMatchObject({
    rolconfig: expect.arrayContaining(['idle_in_transaction_session_timeout=30s', 'lock_timeout=5s']) as string[],
  });
});

/** A folder as the repository's, with the page's file of history, and a login that may import it. */
async function startImport() {
  const own = await createTestDatabase();
  const partner = await insertPartner(own.sql);
  const login = await createLogin(own, 'carteiro_app', 'carteiro_migrator');
  const files = ['loans.ndjson', 'import.sh', 'history.sql'];
  const folder = await folderWith(
    Object.fromEntries(await Promise.all(files.map(async (file) => [file, await snippet(file, CORE_PAGE)] as const))),
  );
  for (const part of ['package.json', 'node_modules', 'src', 'drizzle'])
    await symlink(path.join(ROOT, part), path.join(folder.path, part));
  const env = { DATABASE_URL: login.url, DATA_DIR: folder.path, SANDBOX: 'true', PARTNER_ID: partner };
  return {
    url: login.url,
    run: (...command: [string, ...string[]]) => run(command, folder.path, '', env),
    log: () =>
      own.sql`select version, type, fan_out from events where imported and partner_id = ${partner} order by version`,
    elsewhere: () => own.sql`select until from settled_elsewhere where partner_id = ${partner}`,
  };
}

test('its import takes its file of history, once', async () => {
  const { run: runHere, log, elsewhere } = await startImport();
  expect(JSON.parse(await runHere('sh', 'import.sh'))).toMatchObject({ lines: 5, events: 5, appended: 5 });
  expect(await log()).toMatchObject([
    { version: 1, fan_out: null },
    {},
    {},
    {},
    { type: 'desembolso.liquidado', fan_out: 0 },
  ]);
  expect(await elsewhere()).toEqual([{ until: '2026-10' }]);
  expect(JSON.parse(await runHere('sh', 'import.sh'))).toMatchObject({ lines: 5, appended: 0 });
});

test('its history in SQL takes the same file', async (context) => {
  if (!(await isThere(['psql', '--version']))) context.skip('there is no psql');
  const { url, run: runHere, log, elsewhere } = await startImport();
  await runHere('sh', '-c', 'sed -i "s/PARTNER/$PARTNER_ID/" loans.ndjson');
  const took = () => runHere('psql', url, '-X', '-q', '-t', '-A', '-v', 'ON_ERROR_STOP=1', '-f', 'history.sql');
  expect([(await took()).trim(), (await took()).trim()]).toEqual(['5|5', '5|0']);
  expect(await log()).toHaveLength(5);
  expect(await elsewhere()).toEqual([{ until: '2026-10' }]);
});

test('it has no snippet but those that are run', async () => {
  const text = await readFile(path.join(ROOT, CORE_PAGE), 'utf8');
  const opened = [...text.matchAll(/^```(\w.*)$/gm)].map(([, words = '']) => words.split(' ')[1]);
  const others = ['settle.sql', 'timeouts.sql', 'number.sql', 'loans.ndjson', 'import.sh', 'history.sql'];
  expect(new Set(opened)).toEqual(new Set([...CORE_PROGRAMS, ...others]));
});

test('its table of refusals and its paths name what there is', async () => {
  const text = await readFile(path.join(ROOT, CORE_PAGE), 'utf8');
  const names = [...text.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name]) => name as string);
  expect(
    names.filter((name) => !Object.hasOwn(EVENTS, name) && !/^settle\.|^partner\.|^event_types\.version$/.test(name)),
  ).toEqual([]);
  const paths = text.slice(text.indexOf('| path '), text.indexOf('## Numbers and months'));
  const reported = new Set([...paths.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name]) => name as string));
  const ofLoans = Object.keys(EVENTS).filter(
    (name) =>
      EVENTS[name as keyof typeof EVENTS].kind !== 'reserved' && !/^(autorizacao|margem|repasse|webhook)\./.test(name),
  );
  expect([...reported].toSorted()).toEqual(ofLoans.toSorted());
  const statuses = [...paths.matchAll(/\| `([a-z_]+)` +\|$/gm)].map(([, status]) => status as string);
  expect(statuses.length).toBeGreaterThan(8);
  expect(statuses.filter((status) => !(LOAN_STATUSES as readonly string[]).includes(status))).toEqual([]);
  const raised = await database.sql<{ code: string }[]>`
    select distinct (regexp_matches(prosrc, '''(CT4[0-9]+)''', 'g'))[1] as code from pg_proc
    where proname in ('append_event', 'acceptable_payload', 'refuse_version', 'refuse_away') order by 1`;
  expect([...new Set(text.match(/CT4\d\d/g))].toSorted()).toEqual(raised.map(({ code }) => code));
});

test('the operators’ SQL for an administrator is what a refused migration advises', async () => {
  const readme = await readFile(path.join(ROOT, 'src/main/README.md'), 'utf8');
  const [, sql = ''] = /```sql\n(create role carteiro_owner[^`]*)```/.exec(readme) ?? [];
  expect(sql.trim().replaceAll(';\n', '; ').replace(/;$/, '')).toBe(
    preparationFor({ schema: 'carteiro', rolePrefix: 'carteiro' }),
  );
  expect(ROLES).toHaveLength(7);
});
