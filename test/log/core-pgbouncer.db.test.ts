/** A core behind the real PgBouncer, in each of its modes, as src/log/README.md tells it: with the page's own programs. */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { CORE_PROGRAMS, findPsycopg, prepareProgram, type Settle } from '../support/core-programs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { insertSubscriber } from '../support/outbox.ts';
import { PGBOUNCER_MINOR, type Pooler, startPooler } from '../support/pooler.ts';
import { run } from '../support/snippets.ts';

/** It keeps its clients' prepared statements by itself since 1.24. */
const keepsStatements = (PGBOUNCER_MINOR ?? 0) >= 24;
/** What the page adds to the address in transaction mode, before that. */
const WITHOUT_STATEMENTS: Readonly<Record<string, string>> = {
  'Settle.java': '?prepareThreshold=0',
  'settle.go': '?default_query_exec_mode=exec',
};

let database: TestDatabase;
let login: Login;
let name: string;
let partnerId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  login = await createLogin(database, 'carteiro_core');
  name = new URL(login.url).username;
  ({ partnerId } = await insertSubscriber(database.sql, 'https://partner.example/', ['desembolso.liquidado']));
});

/** One session of the server for all clients, so that each finds what the one before it left there. */
const startIn = (mode: string): Promise<Pooler> =>
  startPooler({
    target: database.url,
    users: { [name]: new URL(login.url).password },
    settings: [`pool_mode = ${mode}`, 'ignore_startup_parameters = extra_float_digits', 'default_pool_size = 1'],
  });

describe.skipIf(PGBOUNCER_MINOR === undefined)(`through PgBouncer 1.${PGBOUNCER_MINOR ?? 'x'}`, () => {
  describe.each(CORE_PROGRAMS)('%s', (file) => {
    let settle: Settle | string;
    beforeAll(async () => void (settle = await prepareProgram(file)));

    test.for(['session', 'transaction'])('appends twice in %s mode', async (mode, context: TestContext) => {
      if (typeof settle === 'string') context.skip(settle);
      const pooler = await startIn(mode);
      const url = `${pooler.urlOf(name)}${mode === 'transaction' && !keepsStatements ? (WITHOUT_STATEMENTS[file] ?? '') : ''}`;
      const loan = randomUUID();
      for (let time = 0; time < 2; time += 1) await settle(url, loan, partnerId);
      expect(await database.sql`select from events where stream = ${loan}`).toHaveLength(2);
    });

    test('is refused in statement mode, and appends nothing', async (context: TestContext) => {
      if (typeof settle === 'string') context.skip(settle);
      const pooler = await startIn('statement');
      const loan = randomUUID();
      await expect(settle(pooler.urlOf(name), loan, partnerId)).rejects.toThrow(/transaction blocks not allowed/);
      expect(await database.sql`select from events where stream = ${loan}`).toHaveLength(0);
    });
  });

  test('in transaction mode pgx’s own statements need a PgBouncer that keeps them, or the page’s parameter', async (context: TestContext) => {
    const settle = await prepareProgram('settle.go');
    if (typeof settle === 'string') context.skip(settle);
    const pooler = await startIn('transaction');
    await settle(pooler.urlOf(name), randomUUID(), partnerId);
    const second = settle(pooler.urlOf(name), randomUUID(), partnerId);
    expect(await outcomeOf(second)).toMatch(keepsStatements ? 'works' : /prepared statement .* already exists/);
  });

  test('in transaction mode psycopg’s sixth run of a statement needs such a PgBouncer too, or prepare_threshold=None', async (context: TestContext) => {
    const python = await findPsycopg();
    if (python === null) context.skip('there is no Python with psycopg');
    const pooler = await startIn('transaction');
    const runTwelve = (options: string) =>
      run([python, '-c', TWELVE.replace('OPTIONS', options), pooler.urlOf(name)], tmpdir());
    expect(await outcomeOf(runTwelve(''))).toMatch(
      keepsStatements ? 'works' : /prepared statement .* (already|does not) exist/,
    );
    await runTwelve(', prepare_threshold=None');
  });
});

const outcomeOf = (running: Promise<string>) =>
  running.then(
    () => 'works',
    (error: Error) => error.message,
  );

/** Two connections that take turns. */
const TWELVE = `
import psycopg, sys, uuid
cores = [psycopg.connect(sys.argv[1], autocommit=True OPTIONS) for _ in range(2)]
for turn in range(12):
    for core in cores:
        core.execute("select carteiro.stream_version(%s)", [uuid.uuid4()]).fetchone()
`;
