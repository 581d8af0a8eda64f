/** `uninstall --check`, on an installation in use and on one that has been emptied; then its SQL is run. */
import { expect, test } from 'vitest';
import { callCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { untilSettled } from '../support/settled.ts';
import { insertSubscriber } from '../support/outbox.ts';

const database = await createTestDatabase();
const { sql } = database;
const run = (...args: string[]) =>
  callCommand(['uninstall', ...args], { DATABASE_URL: database.url, SANDBOX: 'true', LOG_LEVEL: 'warn' });

interface Answer {
  readonly schemas: { readonly name: string; readonly bytes: number }[];
  readonly roles: { readonly name: string; readonly logins: string[]; readonly elsewhere: string[] }[];
  readonly dependents: string[];
  readonly first: string[];
  readonly sql: string[];
}

test('without --check it refuses and says so', async () => {
  const { code, stderr } = await run();
  expect(code).toBe(2);
  expect(stderr).toContain('uninstall removes nothing: give --check');
});

test('names schemas, roles, their logins, what others hang on them, and what must be done first; then nothing, and its SQL works', async () => {
  const login = await createLogin(database, 'carteiro_app');
  const name = new URL(login.url).username;
  const grantor = new URL((await createLogin(database, 'carteiro_auditor')).url).username;
  await sql.unsafe(
    `grant carteiro_app to "${grantor}" with admin option; grant carteiro_app to "${name}" granted by "${grantor}"`,
  );
  await insertSubscriber(sql, 'https://partner.example/', ['margem.falhou']);
  await sql.unsafe('create schema core; create view core.open_streams as select stream from carteiro.core_streams');
  const before = await run('--check');
  await sql.unsafe(`revoke carteiro_app from "${name}" granted by "${grantor}"`);
  const found = JSON.parse(before.stdout) as Answer;
  expect(before.code).toBe(1);
  expect(found.schemas).toEqual(
    ['carteiro', 'carteiro_auditoria'].map((schema) => ({ name: schema, bytes: expect.any(Number) })),
  );
  expect(found.schemas[0]?.bytes).toBeGreaterThan(100_000);
  const logins = found.roles.find((role) => role.name === 'carteiro_app')?.logins;
  expect(logins?.filter((one) => one === name)).toEqual([name]);
  expect(found.dependents).toEqual(['core.open_streams']);
  expect(found.first).toContain('active partners: 1; partner deactivate PARTNER lets each go');

  await sql`update partners set active = false where id <> operator_partner()`;
  await untilSettled(sql);
  const sealed = await callCommand(['audit', 'seal'], { DATABASE_URL: database.url, SANDBOX: 'true' });
  expect(sealed.code).toBe(0);
  const [{ month }] = await sql<
    [{ month: string }]
  >`select to_char(now() at time zone 'America/Sao_Paulo', 'YYYY-MM') as month`;
  expect((JSON.parse((await run('--check')).stdout) as Answer).first).toEqual([
    `${month} is in no archive: archive ${month} --to PLACE`,
  ]);

  const [drop] = found.sql;
  await sql.unsafe(drop ?? '');
  expect(await sql`select nspname from pg_namespace where nspname like 'carteiro%'`).toEqual([]);
  expect(await sql`select from pg_class where relname = 'open_streams'`).toEqual([]);
  const gone = await run('--check');
  expect(JSON.parse(gone.stdout)).toMatchObject({ schemas: [], dependents: [], first: [] });
  expect([gone.code, gone.stderr]).toEqual([0, 'nothing of Carteiro is in this database: it has no schema carteiro\n']);
});
