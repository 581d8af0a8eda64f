/** Carteiro in a database that is somebody else's: nothing outside its two schemas is made, altered, owned or granted. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Installation, ROLES } from '../../src/db/installation.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { preparationFor } from '../../src/db/migrations/migration-refused.ts';
import {
  type CoreDatabase,
  createCoreDatabase,
  fingerprintOf,
  installationOfItsOwn,
  PASSWORD,
} from '../support/core-database.ts';
import { silentLog } from '../support/silent-log.ts';

let core: CoreDatabase;
beforeAll(async () => void (core = await createCoreDatabase()));

const MIGRATORS: Record<string, (installation: Installation) => Promise<string>> = {
  'a superuser': async () => core.url,
  'a superuser with a search path of its own': async () => {
    const url = new URL(core.url);
    url.searchParams.set('options', '-csearch_path=core_own,public');
    return url.href;
  },
  'the owner of the database, who finds the roles made before': async ({ rolePrefix, schema }) => {
    const owner = `${rolePrefix}_dbowner`;
    await core.sql.unsafe(`create role ${owner} login password '${PASSWORD}'`);
    await core.sql.unsafe(`alter database ${core.name} owner to ${owner}`);
    for (const role of ROLES) await core.sql.unsafe(`create role ${rolePrefix}_${role} nologin`);
    await core.sql.unsafe(`grant ${rolePrefix}_owner to ${owner}`);
    await core.sql.unsafe(`alter role ${owner} in database ${core.name} set search_path = public, ${schema}`);
    return core.urlOf(owner);
  },
  'a role that may make roles, and schemas in this database': async ({ rolePrefix }) => {
    const maker = `${rolePrefix}_maker`;
    await core.sql.unsafe(`create role ${maker} login createrole password '${PASSWORD}'`);
    await core.sql.unsafe(`grant create on database ${core.name} to ${maker}`);
    return core.urlOf(maker);
  },
  'a role without any right, for which roles and schemas were made before': async (installation) => {
    const nobody = `${installation.rolePrefix}_nobody`;
    await core.sql.unsafe(`create role ${nobody} login password '${PASSWORD}'`);
    await core.sql.unsafe(preparationFor(installation).replace('<the role that migrates>', nobody));
    return core.urlOf(nobody);
  },
};

test.each(Object.entries(MIGRATORS))('migrated by %s, the rest of the database is as it was', async (_, makeUrl) => {
  const installation = installationOfItsOwn();
  const url = await makeUrl(installation);
  const before = await fingerprintOf(core.sql, installation);
  await migrate(url, silentLog, { installation });
  await migrate(url, silentLog, { installation });
  expect(await fingerprintOf(core.sql, installation)).toEqual(before);
  await expectAllOwned(installation);
  expect(await core.sql`select name from public.events`).toEqual([{ name: 'one' }]);
  expect(await core.sql`select hash from drizzle.__drizzle_migrations`).toEqual([{ hash: 'of the core' }]);
});

/** All that stands in the two schemas is of the owner role; the owner role has nothing else. */
async function expectAllOwned({ schema, rolePrefix }: Installation): Promise<void> {
  const strange = await core.sql`
    select n.nspname, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${schema}, ${`${schema}_auditoria`}) <> (c.relowner = ${`${rolePrefix}_owner`}::regrole)
      and n.nspname <> 'pg_toast'
    union all
    select n.nspname, f.proname from pg_proc f join pg_namespace n on n.oid = f.pronamespace
    where n.nspname in (${schema}, ${`${schema}_auditoria`}) <> (f.proowner = ${`${rolePrefix}_owner`}::regrole)`;
  expect(strange).toEqual([]);
}

describe('a schema that is not Carteiro’s', () => {
  test.each([
    [
      'with tables of somebody else’s',
      (schema: string) => `create schema ${schema}; create table ${schema}.loans (id int)`,
      /holds what is not Carteiro's: loans\. Nothing has changed\. What to do: set DATABASE_SCHEMA to another name/,
    ],
    [
      'that is empty, of another owner',
      (schema: string) => `create schema ${schema}`,
      /belongs to \w+, not to \w+_owner\. Nothing has changed\. What to do: if it is meant for Carteiro: alter schema/,
    ],
    [
      'with a function of somebody else’s',
      (schema: string) => `create schema ${schema}; create function ${schema}.f() returns int language sql return 1`,
      /holds what is not Carteiro's: f\. Nothing has changed/,
    ],
    [
      'with a type of somebody else’s, as the auditors’ schema',
      (schema: string) => `create schema ${schema}_auditoria; create type ${schema}_auditoria.t as enum ('a')`,
      /_auditoria" holds what is not Carteiro's: t\. Nothing has changed/,
    ],
  ])('%s is refused in one sentence, and stays as it is', async (_, sqlOf, reason) => {
    const installation = installationOfItsOwn();
    await core.sql.unsafe(sqlOf(installation.schema));
    const before = await everythingOf();
    await expect(migrate(core.url, silentLog, { installation })).rejects.toThrow(reason);
    expect(await everythingOf()).toEqual(before);
    expect(await core.sql`select from pg_roles where starts_with(rolname, ${installation.rolePrefix})`).toEqual([]);
  });
});

const everythingOf = () => fingerprintOf(core.sql, { schema: 'none', rolePrefix: 'none' });

test('a role without the rights is told PostgreSQL’s reason and the SQL that an administrator runs; then it can', async () => {
  const installation = installationOfItsOwn();
  const nobody = `${installation.rolePrefix}_nobody`;
  await core.sql.unsafe(`create role ${nobody} login password '${PASSWORD}'`);
  const refusal = await migrate(core.urlOf(nobody), silentLog, { installation }).catch((error: Error) => error.message);
  expect(refusal).toMatch(
    /^permission denied to create role \(SQLSTATE 42501\); .*Nothing has changed\. What to do: /s,
  );
  const advised = /(create role nb.*)$/s.exec(String(refusal))?.[1] as string;
  await core.sql.unsafe(advised.replace('<the role that migrates>', nobody));
  await migrate(core.urlOf(nobody), silentLog, { installation });
  await expectAllOwned(installation);
});

/** Called for each row that is written: their words name their schemas (sound-rows.db.test.ts). */
const NAMES_SCHEMAS = new Set(['is_sound_attempt', 'is_sound_delivery']);

test('every function has a search path of its own, names bound when it was made or names with their schema, and none may be executed by PUBLIC', async () => {
  const installation = installationOfItsOwn();
  await migrate(core.url, silentLog, { installation });
  const functions = await core.sql<{ name: string; config: string[] | null; isBound: boolean; isPublic: boolean }[]>`
    select f.proname as name, nullif(array(select unnest(f.proconfig) except values ('extra_float_digits=1'), ('random_page_cost=1.1'), ('lock_timeout=50ms'), ('enable_seqscan=on')), '{}') as config, f.prosqlbody is not null as "isBound",
           exists (select from aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) where grantee = 0) as "isPublic"
    from pg_proc f where f.pronamespace = ${installation.schema}::regnamespace`;
  expect(functions.length).toBeGreaterThan(15);
  for (const { name, config, isBound, isPublic } of functions) {
    const isSafe = (isBound || NAMES_SCHEMAS.has(name)) && config === null;
    expect({ name, config: isSafe ? null : config, isPublic }).toEqual({
      name,
      config: isSafe ? null : [`search_path=${installation.schema}, pg_temp`],
      isPublic: false,
    });
  }
});
