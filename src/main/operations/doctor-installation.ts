/** The installation: the server that it knows, its roles and what they may do, its secrets. */
import type { Config } from '../../config.ts';
import { ROLES } from '../../db/installation.ts';
import { readServerFault, readNewest } from '../../db/known-server.ts';
import { compareSchema } from '../../db/migrations/compare-schema.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { readBroken, readEncryptionKeys } from '../../webhooks/encryption-keys.ts';
import { createVault, keyIdOf } from '../../webhooks/secrets.ts';
import { RIGHTS } from './checks.ts';
import { installationOf } from '../service/database.ts';
import { readSecretsKeys } from '../service/key-files.ts';
import { fault, type Finding, ok, warning } from '../../db/fitness/finding.ts';

/** Tables, views, functions, triggers and rights, beside those that this release would make. */
export async function checkDefinitions(pool: Pool, config: Config): Promise<readonly Finding[]> {
  const about = 'definitions';
  const { differences, uncompared } = await compareSchema(pool, installationOf(config));
  if (differences.length === 0 && uncompared !== null) {
    const help =
      'grant temporary on the database to the login, let no event trigger refuse its temporary objects, and ask with the newest release';
    return [warning(about, `not compared: ${uncompared}`, help)];
  }
  const advice = 'run migrate where it lacks something; else ask who changed it: audit verify tells it, too';
  return differences.length === 0
    ? [ok(about, 'tables, views, functions, triggers and rights are as this release makes them')]
    : differences.map(({ name, detail }) => fault(about, `${name}: ${detail}`, advice));
}

export async function checkEpoch(sql: Tx): Promise<readonly Finding[]> {
  const serverFault = await readServerFault(sql);
  const [{ epoch }] = await sql<[{ epoch: number }]>`select current_epoch() as epoch`;
  if (serverFault === null)
    return [ok('epoch', `${epoch}, on the server that the installation knows; ${await readNewest(sql)}`)];
  const found = `the database ${serverFault === 'copy' ? 'is a copy' : 'went back in time'}`;
  return [fault('epoch', found, 'if it is to go on from here, run the command adopt')];
}

const APPEND_ONLY = ['events', 'attempts', 'webhook_history', 'partner_history', 'send_orders', 'seals'] as const;

export async function checkRoles(sql: Tx, config: Config): Promise<readonly Finding[]> {
  const { databaseRolePrefix: prefix } = config;
  const names = namesOf(config);
  const there = await sql<
    { name: string }[]
  >`select rolname::text as name from pg_roles where rolname = any (${names})`;
  const missing = names.filter((name) => !there.some((row) => row.name === name));
  if (missing.length > 0) {
    const advice = 'run migrate with CREATEROLE, or let an administrator make them';
    return [fault('roles', `${missing.join(', ')} do not exist`, advice)];
  }
  const found: Finding[] = [ok('roles', `all ${names.length} exist`)];
  for (const { command, group, table, right } of Object.values(RIGHTS)) {
    const name = `${prefix}_${group}`;
    const [{ may }] = await sql<[{ may: boolean }]>`select has_table_privilege(${name}, ${table}, ${right}) as may`;
    const lacks = `${name} may not ${right} on ${table}, which ${command} needs`;
    if (!may) found.push(fault('grants', lacks, 'run migrate: it grants every right anew'));
  }
  const tampering = await sql<{ name: string; table: string }[]>`
    select name, "table" from unnest(${names.slice(1)}::text[]) name cross join unnest(${[...APPEND_ONLY]}::text[]) as t ("table")
    where has_table_privilege(name, "table", 'delete, truncate') or has_any_column_privilege(name, "table", 'update')`;
  for (const { name, table } of tampering) {
    const advice = `revoke update, delete, truncate on ${table} from ${name}, and ask who granted it`;
    found.push(fault('grants', `${name} may change or delete rows of ${table}`, advice));
  }
  if (found.length === 1)
    found.push(ok('grants', 'each role may what it needs, and none may alter what is append-only'));
  return [...found, ...(await checkLogin(sql, config))];
}

function namesOf({ databaseRolePrefix: prefix }: Config): string[] {
  return ROLES.map((role) => `${prefix}_${role}`);
}

/** Reads only PostgreSQL's own catalog, so it works for a login without any right. */
export async function checkLogin(sql: Tx, config: Config): Promise<readonly Finding[]> {
  const names = namesOf(config);
  const [{ login, of }] = await sql<[{ login: string; of: string[] | null }]>`
    select quote_ident(current_user) as login,
           (select array_agg(name) from unnest(${names}::text[]) name where pg_has_role(name, 'usage')) as of`;
  return of === null
    ? [fault('login', `${login} is a member of none of the roles`, `grant ${names[1]} or ${names[2]} to ${login}`)]
    : [ok('login', `${login} has the rights of ${of.join(', ')}`)];
}

/** Secrets that the ring has the key of, and that do not open all the same; and those under an older key. */
export async function checkSecrets(sql: Tx, config: Config): Promise<readonly Finding[]> {
  const about = 'secrets';
  const keys = await readSecretsKeys(config);
  const ring = keys.map(keyIdOf);
  const stored = await readEncryptionKeys(sql);
  const found: Finding[] = [];
  const broken = await readBroken(sql, createVault(keys), ring);
  if (broken.length > 0) {
    const some = broken.slice(0, 5).join(', ');
    const what = `the secrets of ${broken.length} webhooks do not open: they were altered, or are another webhook's (${some})`;
    const advice =
      'their deliveries wait: restore those rows of webhooks, or give the partner a new secret with secrets replace';
    found.push(fault(about, what, advice));
  }
  const older = stored.filter(({ keyId }) => ring.indexOf(keyId) > 0).reduce((sum, { secrets }) => sum + secrets, 0);
  if (older > 0) {
    const which = `${older} signing secrets are under an older key`;
    found.push(warning(about, which, 'run secrets reseal, then take that key out'));
  }
  return found;
}
