/** The programs of src/log/README.md run as they stand there, with nothing but the core's role. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { readFile, glob } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROLES } from '../../src/db/installation.ts';
import { preparationFor } from '../../src/db/migrations/migration-refused.ts';
import { EVENTS } from '../../src/contract/events.ts';
import { LOAN_STATUSES } from '../../src/contract/statuses.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { insertPartner, insertWebhook } from '../support/outbox.ts';
import { folderWith, isThere, run, snippet } from '../support/snippets.ts';

const PAGE = 'src/log/README.md';
const ROOT = path.resolve(import.meta.dirname, '../..');
const PYTHON = process.env['PYTHON'] ?? 'python3';

/** Maven's copy of the driver, or the one that is named. */
async function findJar(): Promise<string | null> {
  const given = process.env['PGJDBC_JAR'];
  if (given !== undefined) return existsSync(given) ? given : null;
  const jars = glob('.m2/repository/org/postgresql/postgresql/*/postgresql-*.jar', { cwd: homedir() });
  for await (const jar of jars) if (/-[\d.]+\.jar$/.test(jar)) return path.join(homedir(), jar);
  return null;
}

const jar = await findJar();
const hasPsql = await isThere(['psql', '--version']);
const hasPython = await isThere([PYTHON, '-c', 'import psycopg']);
const hasJava = jar !== null && (await isThere(['java', '-version']));

let database: TestDatabase;
let login: Login;
let partnerId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  login = await createLogin(database, 'carteiro_core');
  partnerId = await insertPartner(database.sql);
  await insertWebhook(database.sql, partnerId, 'https://partner.example/', ['desembolso.liquidado']);
});
afterAll(async () => {
  await login.remove();
  await database.drop();
});

type Settle = (loan: string, partner: string) => Promise<string>;

const PROGRAMS: Record<string, Settle> = {
  'settle.sql': (loan, partner) => {
    const variables = [`loan=${loan}`, `partner=${partner}`, 'number=2026-00000001'].flatMap((one) => ['-v', one]);
    return runSnippet('settle.sql', ['psql', login.url, '-X', ...variables, '-f', 'settle.sql']);
  },
  'settle.py': (loan, partner) => runSnippet('settle.py', [PYTHON, 'settle.py', loan, partner, '2026-00000001']),
  'Settle.java': (loan, partner) =>
    runSnippet('Settle.java', ['java', '-cp', String(jar), 'Settle.java', loan, partner, '2026-00000001']),
};

async function runSnippet(file: string, command: readonly [string, ...string[]]): Promise<string> {
  const folder = await folderWith({ [file]: await snippet(file, PAGE) });
  const { hostname, port, pathname, username, password } = new URL(login.url);
  try {
    return await run(command, folder.path, '', {
      CORE_DATABASE_URL: login.url,
      CORE_JDBC_URL: `jdbc:postgresql://${hostname}:${port}${pathname}?user=${username}&password=${password}`,
      HOME: tmpdir(),
    });
  } finally {
    await folder.remove();
  }
}

test.each([
  ['settle.sql', hasPsql, 'psql'],
  ['settle.py', hasPython, 'Python with psycopg'],
  ['Settle.java', hasJava, 'Java with org.postgresql:postgresql in ~/.m2 or PGJDBC_JAR'],
] as const)('%s appends, twice, and says why it is refused', async (file, isHere, needs) => {
  if (!isHere) {
    console.info(`skipped: ${file} needs ${needs}`);
    return;
  }
  const settle = PROGRAMS[file] as Settle;
  const loan = randomUUID();
  expect(await settle(loan, partnerId)).toMatch(/[0-9a-f]{8}-[0-9a-f-]{27}[ |]+1\b/);
  await settle(loan, partnerId);
  const events = await database.sql`select version, actor, data from events where stream = ${loan} order by version`;
  expect(events).toMatchObject([
    { version: 1, actor: 'core-banking', data: { emprestimo_id: loan, valor_liberado: 5000.5 } },
    { version: 2 },
  ]);
  await expect(settle(loan, randomUUID())).rejects.toThrow(/there is no partner/);
  expect(await database.sql`select from events where stream = ${loan}`).toHaveLength(2);
});

test('its table of refusals and its paths name what there is', async () => {
  const text = await readFile(path.join(ROOT, PAGE), 'utf8');
  const names = [...text.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name]) => name as string);
  expect(
    names.filter((name) => !Object.hasOwn(EVENTS, name) && !/^settle\.|^partner\.|^event_types\.version$/.test(name)),
  ).toEqual([]);
  const paths = text.slice(text.indexOf('| path '), text.indexOf('## What follows an append'));
  const told = new Set([...paths.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name]) => name as string));
  const ofLoans = Object.keys(EVENTS).filter(
    (name) =>
      EVENTS[name as keyof typeof EVENTS].kind !== 'reserved' && !/^(autorizacao|margem|repasse|webhook)\./.test(name),
  );
  expect([...told].toSorted()).toEqual(ofLoans.toSorted());
  const statuses = [...paths.matchAll(/\| `([a-z_]+)` +\|$/gm)].map(([, status]) => status as string);
  expect(statuses.length).toBeGreaterThan(8);
  expect(statuses.filter((status) => !(LOAN_STATUSES as readonly string[]).includes(status))).toEqual([]);
  const raised = await database.sql<{ code: string }[]>`
    select distinct (regexp_matches(prosrc, '''(CT4[0-9]+)''', 'g'))[1] as code from pg_proc
    where oid in ('append_event'::regproc, 'acceptable_payload'::regproc) order by 1`;
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
