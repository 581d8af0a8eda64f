/** What must hold of a database. A start refuses what stops it and logs the rest (service/fitness.ts); the doctor shows all. */
import type { Config } from '../../config.ts';
import { fault, type Finding, ok, stop, warning } from '../../db/fitness/finding.ts';
import { pendingMigrations } from '../../db/migrations/pending-migrations.ts';
import type { Tx } from '../../db/pool.ts';
import { readWrongSettings } from '../../db/connect/session-settings.ts';
import { checkSettings } from '../../db/fitness/server-settings.ts';
import { readLeaseFault } from '../../delivery/queue/lease.ts';
import { readEncryptionKeys, readRetired } from '../../webhooks/encryption-keys.ts';
import { keyIdOf } from '../../webhooks/secrets.ts';
import { readSecretsKeys, secretsKeysSource } from '../service/key-files.ts';

export const ROLES = ['api', 'poller'] as const;
export type Role = (typeof ROLES)[number];

/** A right that each role's group has and the other's has not: without it its commands do nothing. */
export const RIGHTS = {
  api: { command: 'api', group: 'app', table: 'webhooks', right: 'insert' },
  poller: { command: 'poll', group: 'poller', table: 'claims', right: 'delete' },
} as const satisfies Record<Role, object>;

interface Asked {
  readonly config: Config;
  readonly schema: string;
}

type Check = (sql: Tx, asked: Asked) => Promise<readonly Finding[]>;

/** In start-up order; those after `migrations` query its tables. */
export const CHECKS = {
  server: checkSettings,
  schema: checkSchema,
  session: checkSession,
  migrations: checkMigrations,
  lease: checkLease,
  secrets: checkKeys,
} as const satisfies Record<string, Check>;

/** A pooler may drop what a session sets when it connects; then another schema's tables would be found. */
async function checkSchema(sql: Tx, { schema }: Pick<Asked, 'schema'>): Promise<readonly Finding[]> {
  const [{ may, first }] = await sql<[{ may: boolean | null; first: string | null }]>`
    select has_schema_privilege(to_regnamespace(${schema})::oid, 'usage') as may, current_schema() as first`;
  // Not judged here: without the right to look into the schema, rights are the finding; without the schema, migrations are.
  if (may !== true || first === schema) return [ok('schema', schema)];
  return [
    stop(
      'schema',
      `the search path does not reach the database, which looks into ${first} first`,
      `behind a pooler run "alter role <the login> set search_path = ${schema}, pg_temp"`,
    ),
  ];
}

/** What our statements depend on is set by each connection; a pooler in transaction mode drops it, and the login must have it. */
async function checkSession(sql: Tx): Promise<readonly Finding[]> {
  const wrong = await readWrongSettings(sql);
  if (wrong.length === 0) return [ok('session', 'as our statements need it')];
  return wrong.map(({ name, value, wanted }) =>
    stop('session', `${name} is ${value}`, `run "alter role <the login> set ${name} = '${wanted}'"`),
  );
}

async function checkMigrations(sql: Tx, { schema }: Pick<Asked, 'schema'>): Promise<readonly Finding[]> {
  const pending = await pendingMigrations(sql, schema);
  if (pending === 0) return [ok('migrations', 'none is pending')];
  const found = `${pending} ${pending === 1 ? 'migration is' : 'migrations are'} pending`;
  return [stop('migrations', found, "run the command 'migrate' first")];
}

async function checkLease(sql: Tx): Promise<readonly Finding[]> {
  const found = await readLeaseFault(sql);
  if (found === null) return [ok('lease', 'longer than an attempt takes')];
  return [stop('lease', found, "run the command 'migrate' of this release, which sets the lease")];
}

async function checkKeys(sql: Tx, { config }: Asked): Promise<readonly Finding[]> {
  const about = 'secrets';
  const source = secretsKeysSource(config);
  const ring = [...new Set((await readSecretsKeys(config)).map(keyIdOf))];
  const [stored, retired] = [await readEncryptionKeys(sql), await readRetired(sql, ring)];
  const found: Finding[] = [];
  if (retired.includes(ring[0] ?? '')) {
    const which = `${source} begins with key ${ring[0]}, which \`secrets reseal\` has retired`;
    found.push(stop(about, which, 'put the new key in front'));
  } else if (retired.length > 0) {
    found.push(warning(about, `${source} holds retired keys`, `take them out: ${retired.join(', ')}`));
  }
  const unopened = stored.filter(({ keyId }) => !ring.includes(keyId));
  const of = stored.reduce((sum, { secrets }) => sum + secrets, 0);
  const lost = unopened.reduce((sum, { secrets }) => sum + secrets, 0);
  const keys = unopened.map(({ keyId }) => (/^[0-9a-f]{8}$/.test(keyId) ? keyId : 'unreadable')).join(', ');
  if (lost > 0 && lost === of) {
    const which = `${source} opens none of the ${of} stored signing secrets`;
    const advice = `they were encrypted with key ${keys}, and it holds ${ring.join(', ')}; add the key that encrypted them, or if it is lost run secrets replace --all`;
    found.push(stop(about, which, advice));
  } else if (lost > 0) {
    const which = `${source} does not open ${lost} of ${of} signing secrets`;
    found.push(
      fault(about, which, `their deliveries wait: add the keys ${keys}, or if they are lost run secrets replace --all`),
    );
  }
  return found.length > 0 ? found : [ok(about, `${source} has the keys of all ${of} signing secrets`)];
}
