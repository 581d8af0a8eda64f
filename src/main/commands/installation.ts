import { readMonths } from '../../archive/acts.ts';
import { ROLES } from '../../db/installation.ts';
import type { ServerFault } from '../../db/known-server.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { endClaimsOfThePast } from '../../delivery/queue/rescuer.ts';
import { command, flag, UsageError } from '../command.ts';
import { runJob, withJobPool } from '../job-pool.ts';
import { readProcesses } from '../operations/heartbeat.ts';
import { readSealLagS } from '../operations/measure-installation.ts';
import { migrateDatabase, openDatabase } from '../service/database.ts';

export const migrate = command({
  summary: 'apply pending migrations, then exit; safe to run from several machines at once',
  help: `
Waits for nobody longer than 2 s at a time, so it may run beside everything else. Uses DIRECT_DATABASE_URL where that is
set. Needs a login that is a member of carteiro_owner, or one that may make schemas and roles.

Output: migrated`,
  exits: {
    done: 'nothing is pending any more',
    refused: 'a migration could not be applied; it was rolled back, and those before it stay',
  },
  async run(_, { configure, print }) {
    const { config, log } = configure();
    const database = await openDatabase(config, log);
    try {
      if (!database.isEmbedded) await migrateDatabase(config, database.directUrl, log);
      print('migrated');
    } finally {
      await database.close();
    }
  },
});

export const adopt = command({
  summary: 'go on from a copy: make the server on which the database finds itself the known one',
  help: `
A database that was restored or copied to another server, or whose transactions went back, waits: /readyz is 503, and nothing
is appended, delivered or sealed, because a copy made for a test must not POST to partners. This command says that it is to
go on from here. First stop whatever still works on the server before. It begins a new epoch, above everything there is;
ends the claims of the past as desconhecido, so that they are sent again; and tells what it cannot know. A promoted standby
needs none of this: it goes on by itself. Needs the rights of migrate.

Output: {"adopted": true, "fault": "copy", "epoch": 2, "endedClaims": 3, "pending": 17, "newestEventAt": "2026-…",
"newestAttemptAt": "2026-…"}; adopted is false when there is nothing to adopt.`,
  exits: {
    done: 'it goes on from here, or there was nothing to adopt',
    refused: 'it could not be done; nothing has changed',
  },
  async run(_, line) {
    const { summary, reported } = await withJobPool(
      line,
      (pool, { config }) => adoptServer(pool, `${config.databaseRolePrefix}_owner`),
      { onUnknownServer: 'accept', needs: 'owner' },
    );
    line.print(JSON.stringify(summary));
    process.stderr.write(`${reported}\n`);
  },
});

interface Adoption {
  readonly summary: {
    readonly adopted: boolean;
    readonly fault: ServerFault | null;
    readonly epoch: number;
    /** Claims of the server before, ended as `desconhecido`. */
    readonly endedClaims: number;
    readonly pending: number;
    readonly newestEventAt: Date | null;
    readonly newestAttemptAt: Date | null;
  };
  /** What a person should read. */
  readonly reported: string;
}

/** One transaction: all of it or nothing. `owner` is the role that owns the tables. */
export async function adoptServer(pool: Pool, owner: string): Promise<Adoption> {
  return pool.transaction(async (tx) => {
    await tx`set local role ${tx(owner)}`;
    // Before anything is written: what this ends gets attempt rows of its own.
    const [last] = await tx<[{ newestEventAt: Date | null; newestAttemptAt: Date | null }]>`
      select (select occurred_at from events order by id desc limit 1) as "newestEventAt",
             (select max(recorded_at) from attempts) as "newestAttemptAt"`;
    const [{ fault, epoch }] = await tx<[{ fault: ServerFault | null; epoch: number }]>`
      select fault, epoch from adopt_server()`;
    const endedClaims = fault === null ? 0 : await endClaimsOfThePast(tx);
    const [{ pending }] = await tx<[{ pending: number }]>`
      select count(*)::float8 as pending from deliveries where status = 'pendente'`;
    const summary = { adopted: fault !== null, fault, epoch, endedClaims, pending, ...last };
    return { summary, reported: textOf(summary) };
  });
}

function textOf({ adopted, epoch, endedClaims, pending, newestEventAt, newestAttemptAt }: Adoption['summary']): string {
  if (!adopted) return `Nothing to adopt: the database knows this server. It is in epoch ${epoch}.`;
  const at = (moment: Date | null) => moment?.toISOString() ?? 'none';
  return `The database goes on from this server, in epoch ${epoch}.
${endedClaims} claims of the server before were ended as desconhecido: whether their POSTs left is not known.
${pending} deliveries are pending and will be sent, some perhaps for the second time, under the same X-Webhook-Delivery.
The newest event here is of ${at(newestEventAt)}, the newest attempt of ${at(newestAttemptAt)}. What the server before did
after that is not in this database: its events do not exist here, and deliveries that left after it look as if they had not.
Partners that were shown such events get 409 CURSOR_ADIANTE from GET /v1/eventos, with the cursor to go on from. Compare the
loans that changed after that moment with your other systems, and tell those partners.`;
}

export const uninstall = command({
  summary: 'say what would go with this installation, and what must be done first; it removes nothing',
  options: { check: flag('--check', 'look, and remove nothing: there is no other way to call it') },
  help: `
Carteiro never drops itself. This names the schemas and the roles that are its own, their logins, and whatever of others hangs
on them: a view of the core on core_streams would go with them. Then it names what must be done first, each with its command:
processes to stop, partners to let go, deliveries that are pending, events without a seal, months that are in no archive. When
nothing is left, sql is what an administrator runs. Keep the archive, the checkpoints' keys and audit head: they prove what
was, without a database. Needs the rights of carteiro_owner.

Output: {"schemas": [{"name": "carteiro", "bytes": 81920}, …], "roles": [{"name": "carteiro_app", "logins": ["api"],
"elsewhere": []}, …], "dependents": ["core.open_loans"], "first": ["2026-10: archive 2026-10 --to PLACE"], "sql": [
"drop schema …", …]}`,
  exits: { done: 'nothing stands in the way, or nothing of Carteiro is there', refused: 'first names what does' },
  async run({ check }, line) {
    if (!check)
      throw new UsageError('uninstall removes nothing: give --check, and run the SQL that it prints yourself');
    return runJob(
      line,
      async (pool, { config: { databaseSchema: schema, databaseRolePrefix: prefix }, untilFit }) => {
        const things = await pool.run((sql) => readThings(sql, [schema, `${schema}_auditoria`], prefix));
        const schemas = things.schemas.map(({ name }) => name);
        if (schemas.length > 0) await untilFit();
        else process.stderr.write(`nothing of Carteiro is in this database: it has no schema ${schema}\n`);
        const first = schemas.length > 0 ? await pool.run(readObstacles) : [];
        const quoted = (names: readonly string[]) => names.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
        const own = things.roles.filter(({ elsewhere }) => elsewhere.length === 0).map(({ name }) => name);
        const sql = schemas.length > 0 ? [`drop schema ${quoted(schemas)} cascade;`] : [];
        if (own.length > 0) sql.push(`drop owned by ${quoted(own)};`, `drop role ${quoted(own)};`);
        return { summary: { ...things, first, sql }, isGood: first.length === 0 };
      },
      { onUnknownServer: 'accept', needs: 'owner', isPatient: false, checksFirst: true },
    );
  },
});

interface Things {
  readonly schemas: readonly { readonly name: string; readonly bytes: number }[];
  /** `elsewhere`: other databases in which the role has something, so that it stays. */
  readonly roles: readonly { readonly name: string; readonly logins: string[]; readonly elsewhere: string[] }[];
  /** What others have made of ours, which `cascade` takes. */
  readonly dependents: readonly string[];
}

async function readThings(sql: Tx, schemas: readonly string[], prefix: string): Promise<Things> {
  const names = ROLES.map((role) => `${prefix}_${role}`);
  const [row] = await sql<[Things]>`
    with ours as (select oid, nspname as name from pg_namespace where nspname = any (${schemas as string[]}::text[])),
    role as (select oid, rolname as name from pg_roles where rolname = any (${names}::text[]))
    select (
      select coalesce(json_agg(json_build_object('name', name, 'bytes', (
        select coalesce(sum(pg_total_relation_size(c.oid)), 0)
        from pg_class c where c.relnamespace = ours.oid and c.relkind in ('r', 'm', 'p')
      )) order by name), '[]')
      from ours
    ) as schemas,
    (
      select coalesce(json_agg(json_build_object(
        'name', name,
        'logins', array(select distinct m.rolname from pg_auth_members a join pg_roles m on m.oid = a.member
                        where a.roleid = role.oid and m.rolcanlogin order by 1),
        'elsewhere', array(select distinct d.datname from pg_shdepend s join pg_database d on d.oid = s.dbid
                           where s.refclassid = 'pg_authid'::regclass and s.refobjid = role.oid
                             and d.datname <> current_database() order by 1)
      ) order by name), '[]')
      from role
    ) as roles,
    array(
      select distinct format('%I.%I', n.nspname, c.relname)
      from pg_depend d
      join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
      join pg_class c on c.oid = r.ev_class
      join pg_namespace n on n.oid = c.relnamespace and n.oid not in (select oid from ours)
      left join pg_class on_table on d.refclassid = 'pg_class'::regclass and on_table.oid = d.refobjid
      left join pg_proc on_function on d.refclassid = 'pg_proc'::regclass and on_function.oid = d.refobjid
      where coalesce(on_table.relnamespace, on_function.pronamespace) in (select oid from ours)
      union
      select format('%I.%I', n.nspname, c.relname)
      from pg_constraint k
      join pg_class c on c.oid = k.conrelid
      join pg_namespace n on n.oid = c.relnamespace and n.oid not in (select oid from ours)
      join pg_class on_table on on_table.oid = k.confrelid and on_table.relnamespace in (select oid from ours)
      where k.contype = 'f'
      order by 1
    ) as dependents`;
  return row;
}

/** One line for each, with the command that sees to it. */
async function readObstacles(sql: Tx): Promise<string[]> {
  const processes = await readProcesses(sql);
  const archived = new Set((await readMonths(sql)).map(({ month }) => month));
  const [{ partners, isPending, months }] = await sql<[{ partners: number; isPending: boolean; months: string[] }]>`
    select (select count(*)::int from partners where active and id <> operator_partner()) as partners,
           exists (select from deliveries where status = 'pendente') as "isPending",
           array(select distinct to_char(sealed_at at time zone 'America/Sao_Paulo', 'YYYY-MM') as month from seals order by 1) as months`;
  const isUnsealed = (await readSealLagS(sql)) > 0;
  return [
    ...processes.filter(({ isAlive }) => isAlive).map(({ name }) => `${name} still runs: stop it`),
    ...(partners > 0 ? [`active partners: ${partners}; partner deactivate PARTNER lets each go`] : []),
    ...(isPending ? ['deliveries are pending: wait for them, or let their partners go'] : []),
    ...(isUnsealed ? ['rows have no seal yet: audit seal'] : []),
    ...months
      .filter((month) => !archived.has(month))
      .map((month) => `${month} is in no archive: archive ${month} --to PLACE`),
  ];
}
