/** What api, poll, start and migrate refuse before they begin: in one sentence, with exit code 1 and no work done. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  callCommand,
  type Finished,
  runCommand,
  SANDBOX_KEY,
  sandboxOn,
  startCommand,
  startServing,
} from '../support/command.ts';
import { createLogin } from '../support/logins.ts';
import { insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const KEY = SANDBOX_KEY.toString('base64');
const OTHER_KEY = randomBytes(32).toString('base64');

/** The lines of the log that are not JSON: what the command says to whoever typed it. */
const saidBy = ({ stderr }: Finished) => stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));

/** The one sentence that a command left with before it began; else all that it said. */
function refusalOf(finished: Finished): string {
  const { code, stderr } = finished;
  const [sentence = '', ...more] = saidBy(finished);
  const isPlain = code === 1 && more.length === 0 && !/delivers|listens|permission denied|\n {4}at /.test(stderr);
  return isPlain ? sentence : `code ${code}: ${stderr}`;
}

describe('a database without the migrations', () => {
  let empty: Awaited<ReturnType<typeof createEmptyDatabase>>;
  beforeAll(async () => void (empty = await createEmptyDatabase()));

  test.each(['poll', 'api', 'sync-bonds'])('is refused by %s, which says how many are pending', async (command) => {
    const finished = await runCommand([command], sandboxOn(empty.url));
    expect(refusalOf(finished)).toMatch(/^carteiro: \d+ migrations are pending: run the command 'migrate' first$/);
  });

  test.each([
    ['api', 'carteiro_app'],
    ['poll', 'carteiro_poller'],
  ])(
    'but with schemas that an administrator has made is refused by %s for them, not for its rights',
    async (command, role) => {
      const prepared = await createEmptyDatabase();
      const sql = postgres(prepared.url, { max: 1, onnotice: () => undefined });
      for (const schema of ['carteiro', 'carteiro_auditoria'])
        await sql`create schema ${sql(schema)} authorization carteiro_owner`;
      const login = await createLogin({ sql, url: prepared.url }, role);
      onTestFinished(async () => {
        await login.remove();
        await sql.end();
        await prepared.drop();
      });
      const finished = await runCommand([command], sandboxOn(login.url));
      expect(refusalOf(finished)).toBe("carteiro: migrations are pending: run the command 'migrate' first");
    },
  );

  test('is refused by partner create and webhook cap in the same words', async () => {
    for (const args of [
      ['partner', 'create', '--name', 'Um'],
      ['webhook', 'cap', '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b', '3'],
    ]) {
      expect(refusalOf(await callCommand(args, sandboxOn(empty.url)))).toMatch(/^carteiro: \d+ migrations are pending/);
    }
  });

  test('that was away when the API started ends the API once it is there', async () => {
    const nowhere = await startPrivateServer();
    await nowhere.stopImmediately();
    const { proxy, url } = await TcpProxy.to(nowhere.url);
    const there = new URL(url);
    there.pathname = new URL(empty.url).pathname;
    for (const part of ['username', 'password'] as const) there[part] = new URL(empty.url)[part];
    const api = startCommand(['api'], sandboxOn(there.href));
    await api.log(/waiting for the database[^]*the API listens/);
    proxy.redirect(empty.url);
    const finished = await api.end();
    expect(finished.code).toBe(1);
    expect(saidBy(finished)).toEqual([expect.stringContaining('migrations are pending')]);
  });

  test.each(['poll', 'api', 'migrate'])(
    'that does not exist is a misspelled name: %s leaves and says so',
    async (command) => {
      const misspelled = new URL(empty.url);
      misspelled.pathname = '/no_such_database';
      const finished = await runCommand([command], sandboxOn(misspelled.href));
      expect(finished.code).toBe(3);
      expect(saidBy(finished)).toEqual([
        expect.stringMatching(/^carteiro: database "no_such_database" does not exist/),
      ]);
    },
  );
});

describe("another command's rights", () => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await createTestDatabase()));

  test.each([
    ['api', 'carteiro_poller', 'carteiro_app'],
    ['poll', 'carteiro_app', 'carteiro_poller'],
    ['api', 'carteiro_auditor', 'carteiro_app'],
  ])('are refused by %s when it logs in as a member of %s', async (command, given, needed) => {
    const login = await createLogin(database, given);
    const finished = await runCommand([command], sandboxOn(login.url));
    expect(refusalOf(finished)).toMatch(
      new RegExp(`^carteiro: the role carteiro_test_login_\\w+ lacks the rights of \`${command}\``),
    );
    expect(saidBy(finished)[0]).toContain(`grant ${needed} to carteiro_test_login_`);
  });

  test.each([
    ['api', 'carteiro_app'],
    ['poll', 'carteiro_poller'],
  ] as const)('are not needed: %s works as a member of %s alone', async (command, role) => {
    const login = await createLogin(database, role);
    const running = await startServing(command, sandboxOn(login.url));
    expect((await running.end('SIGTERM')).code).toBe(0);
  });
});

describe('a SECRETS_KEY', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    const partner = await insertPartner(database.sql);
    await insertEncryptedWebhook(database.sql, partner, 'http://127.0.0.1:9/');
    await insertEncryptedWebhook(database.sql, partner, 'http://127.0.0.1:9/');
  });

  const withKeys = (...keys: string[]) => sandboxOn(database.url, { SECRETS_KEY: keys.join(',') });

  test.each(['poll', 'api', 'start'])('that opens none of the stored secrets is refused by %s', async (command) => {
    const finished = await runCommand([command], withKeys(OTHER_KEY));
    expect(refusalOf(finished)).toMatch(
      /^carteiro: SECRETS_KEY opens none of the 2 stored signing secrets.*encrypted with key [0-9a-f]{8}/,
    );
    for (const secret of [KEY, OTHER_KEY, 'whsec_']) expect(finished.stderr).not.toContain(secret);
  });

  test('is taken when any key of its ring opens them', async () => {
    const poller = await startServing('poll', withKeys(OTHER_KEY, KEY));
    const { code, stderr } = await poller.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).not.toContain('signing secrets');
  });

  test('that opens only some of them delivers those, and an error says how many it cannot open', async () => {
    const partner = await insertPartner(database.sql);
    const { id } = await insertEncryptedWebhook(database.sql, partner, 'http://127.0.0.1:9/');
    await database.sql`
      update webhooks set encrypted_secret = convert_to('0a1b2c3d', 'UTF8') || substr(encrypted_secret, 9) where id = ${id}`;
    const poller = await startServing('poll', withKeys(KEY));
    const { code, stderr } = await poller.end('SIGTERM');
    expect(code).toBe(0);
    const line = stderr.split('\n').find((text) => text.includes('0a1b2c3d'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      level: 'error',
      msg: 'SECRETS_KEY does not open 1 of 3 signing secrets: their deliveries wait: add the keys 0a1b2c3d, or if they are lost run secrets replace --all',
    });

    await database.sql`update webhooks set active = false where id <> ${id}`;
    expect(refusalOf(await runCommand(['poll'], withKeys(KEY)))).toMatch(
      /^carteiro: SECRETS_KEY opens none of the 1 stored/,
    );
    await database.sql`update webhooks set active = false`;
    const free = await startServing('poll', withKeys(OTHER_KEY));
    expect((await free.end('SIGTERM')).code).toBe(0);
  });
});

describe('a server that may lose acknowledged commits', () => {
  let server: Awaited<ReturnType<typeof startPrivateServer>>;
  let sql: postgres.Sql;
  let migrated: Finished;
  beforeAll(async () => {
    server = await startPrivateServer();
    sql = postgres(server.url, { max: 1, onnotice: () => undefined });
    migrated = await runCommand(['migrate'], { DATABASE_URL: server.url, LOG_LEVEL: 'warn' });
  });
  afterAll(() => sql.end());

  async function withSetting(setting: string, value: string, work: () => Promise<void>): Promise<void> {
    await sql.unsafe(`alter database carteiro set ${setting} = ${value}`);
    await work();
    await sql.unsafe(`alter database carteiro reset ${setting}`);
  }

  test('is migrated, as in production, by who was given no key and no issuer', () => {
    expect(migrated).toEqual({ code: 0, stdout: 'migrated\n', stderr: '' });
  });

  test.each(['migrate', 'poll', 'api'])('has fsync off: refused by %s', (command) =>
    withSetting('carteiro.allow_fsync_off', 'off', async () => {
      expect(refusalOf(await runCommand([command], sandboxOn(server.url)))).toMatch(
        /^carteiro: fsync = off .* set it to on/,
      );
    }),
  );

  test('has synchronous_commit = local: refused by poll', () =>
    withSetting('synchronous_commit', 'local', async () => {
      const finished = await runCommand(['poll'], sandboxOn(server.url));
      expect(refusalOf(finished)).toMatch(
        /^carteiro: synchronous_commit = local loses acknowledged commits when a standby takes over/,
      );
    }));

  test('has full_page_writes off: a warning says when that is safe', async () => {
    const poller = await startServing('poll', sandboxOn(server.url));
    const { stderr } = await poller.end('SIGTERM');
    const warnings = stderr.split('\n').filter((line) => line.includes('full_page_writes'));
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0] ?? '{}')).toMatchObject({ level: 'warn' });
  });
});
