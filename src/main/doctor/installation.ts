/** The installation: its migrations, the server that it knows, its roles and what they may do, its keys. */
import type { Config } from '../../config.ts';
import { readServerFault } from '../../db/known-server.ts';
import { pendingMigrations } from '../../db/migrations/pending-migrations.ts';
import type { Tx } from '../../db/pool.ts';
import { readBroken, readEncryptionKeys } from '../../webhooks/encryption-keys.ts';
import { readRetired } from '../../webhooks/reseal.ts';
import { createVault, keyIdOf } from '../../webhooks/secrets.ts';
import { readSecretsKeys, secretsKeysSource } from '../service/secrets-keys.ts';
import { fault, type Finding, ok, warning } from './finding.ts';

/** Null beside them: nothing else can be looked at yet. */
export async function lookAtMigrations(sql: Tx, schema: string): Promise<readonly Finding[]> {
  const pending = await pendingMigrations(sql, schema);
  return [
    pending === 0
      ? ok('migrations', 'none is pending')
      : fault('migrations', `${pending} are pending`, 'run the command migrate before this version of api and poll'),
  ];
}

export async function lookAtEpoch(sql: Tx): Promise<readonly Finding[]> {
  const serverFault = await readServerFault(sql);
  const [{ epoch }] = await sql<[{ epoch: number }]>`select current_epoch() as epoch`;
  return [
    serverFault === null
      ? ok('epoch', `${epoch}, on the server that the installation knows`)
      : fault(
          'epoch',
          `the database ${serverFault === 'copy' ? 'is a copy' : 'went back in time'}`,
          'if it is to go on from here, run the command adopt',
        ),
  ];
}

const ROLES = ['owner', 'app', 'poller', 'core', 'auditor', 'auditor_cpf'] as const;
/** A right of each role without which its commands do nothing. */
const NEEDED = [
  { role: 'app', commands: 'api, jobs and the operator’s commands', table: 'webhooks', right: 'insert' },
  { role: 'poller', commands: 'poll', table: 'arrivals', right: 'delete' },
] as const;
const APPEND_ONLY = ['events', 'attempts', 'webhook_history', 'partner_history', 'send_orders', 'seals'] as const;

export async function lookAtRoles(sql: Tx, config: Config): Promise<readonly Finding[]> {
  const { databaseRolePrefix: prefix } = config;
  const names = namesOf(config);
  const there = await sql<
    { name: string }[]
  >`select rolname::text as name from pg_roles where rolname = any (${names})`;
  const missing = names.filter((name) => !there.some((row) => row.name === name));
  if (missing.length > 0) {
    return [
      fault(
        'roles',
        `${missing.join(', ')} do not exist`,
        'run migrate with CREATEROLE, or let an administrator make them',
      ),
    ];
  }
  const found: Finding[] = [ok('roles', `all ${names.length} exist`)];
  for (const { role, commands, table, right } of NEEDED) {
    const name = `${prefix}_${role}`;
    const [{ may }] = await sql<[{ may: boolean }]>`select has_table_privilege(${name}, ${table}, ${right}) as may`;
    if (!may)
      found.push(
        fault(
          'grants',
          `${name} may not ${right} on ${table}, which ${commands} need`,
          'run migrate: it grants every right anew',
        ),
      );
  }
  const tampering = await sql<{ name: string; table: string }[]>`
    select name, "table" from unnest(${names.slice(1)}::text[]) name cross join unnest(${[...APPEND_ONLY]}::text[]) as t ("table")
    where has_table_privilege(name, "table", 'delete, truncate') or has_any_column_privilege(name, "table", 'update')`;
  for (const { name, table } of tampering) {
    found.push(
      fault(
        'grants',
        `${name} may change or delete rows of ${table}`,
        `revoke update, delete, truncate on ${table} from ${name}, and ask who granted it`,
      ),
    );
  }
  if (found.length === 1)
    found.push(ok('grants', 'each role may what it needs, and none may alter what is append-only'));
  return [...found, ...(await lookAtLogin(sql, config))];
}

function namesOf({ databaseRolePrefix: prefix }: Config): string[] {
  return ROLES.map((role) => `${prefix}_${role}`);
}

/** Reads the server's own catalog alone, so it answers a login without any right, too. */
export async function lookAtLogin(sql: Tx, config: Config): Promise<readonly Finding[]> {
  const names = namesOf(config);
  const [{ login, of }] = await sql<[{ login: string; of: string[] | null }]>`
    select quote_ident(current_user) as login,
           (select array_agg(name) from unnest(${names}::text[]) name where pg_has_role(name, 'usage')) as of`;
  return of === null
    ? [fault('login', `${login} is a member of none of the roles`, `grant ${names[1]} or ${names[2]} to ${login}`)]
    : [ok('login', `${login} has the rights of ${of.join(', ')}`)];
}

export async function lookAtKeys(sql: Tx, config: Config): Promise<readonly Finding[]> {
  const about = 'secrets';
  const keys = await readSecretsKeys(config);
  const ring = keys.map(keyIdOf);
  const [stored, retired] = [await readEncryptionKeys(sql), await readRetired(sql, ring)];
  const of = stored.reduce((sum, { secrets }) => sum + secrets, 0);
  const unopened = stored.filter(({ keyId }) => !ring.includes(keyId));
  const lost = unopened.reduce((sum, { secrets }) => sum + secrets, 0);
  const source = secretsKeysSource(config);
  const found: Finding[] = [];
  if (retired.includes(ring[0] ?? ''))
    found.push(fault(about, `${source} begins with the retired key ${ring[0]}`, 'put the new key in front'));
  else if (retired.length > 0)
    found.push(warning(about, `${source} holds the retired ${retired.join(', ')}`, 'take it out'));
  if (lost > 0) {
    const keys = unopened.map(({ keyId }) => (/^[0-9a-f]{8}$/.test(keyId) ? keyId : 'unreadable')).join(', ');
    found.push(
      fault(
        about,
        `${source} does not open ${lost} of ${of} signing secrets`,
        `add the keys ${keys}: their deliveries wait`,
      ),
    );
  }
  const broken = await readBroken(sql, createVault(keys), ring);
  if (broken.length > 0) {
    const some = broken.slice(0, 5).join(', ');
    found.push(
      fault(
        about,
        `the secrets of ${broken.length} webhooks do not open: they were altered, or are another webhook's (${some})`,
        'their deliveries wait: restore those rows of webhooks, or let the partner have a new secret (POST …/segredo)',
      ),
    );
  }
  const older = stored.filter(({ keyId }) => ring.indexOf(keyId) > 0).reduce((sum, { secrets }) => sum + secrets, 0);
  if (older > 0)
    found.push(
      warning(
        about,
        `${older} of ${of} signing secrets are under an older key`,
        'run secrets reseal, then take that key out',
      ),
    );
  return found.length > 0 ? found : [ok(about, `${source} opens all ${of} signing secrets`)];
}
