/** What leaves with an installation, and what stands in its way. */
import { readMonths } from '../../archive/acts.ts';
import { ROLES } from '../../db/installation.ts';
import type { Tx } from '../../db/pool.ts';
import { command, flag, UsageError } from '../command.ts';
import { runJob } from '../job-pool.ts';
import { readProcesses } from '../operations/heartbeat.ts';
import { readSealLagS } from '../operations/measure-installation.ts';

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
  exits: { done: 'nothing stands in the way', refused: 'first names what does' },
  async run({ check }, line) {
    if (!check)
      throw new UsageError('uninstall removes nothing: give --check, and run the SQL that it prints yourself');
    return runJob(
      line,
      async (pool, { config: { databaseSchema: schema, databaseRolePrefix: prefix } }) => {
        const schemas = [schema, `${schema}_auditoria`];
        const [things, first] = await pool.run(
          async (sql) => [await readThings(sql, schemas, prefix), await readObstacles(sql)] as const,
        );
        const quoted = (names: readonly string[]) => names.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
        const own = things.roles.filter(({ elsewhere }) => elsewhere.length === 0).map(({ name }) => name);
        const sql = [`drop schema ${quoted(schemas)} cascade;`];
        if (own.length > 0) sql.push(`drop owned by ${quoted(own)};`, `drop role ${quoted(own)};`);
        return { summary: { ...things, first, sql }, isGood: first.length === 0 };
      },
      { onStrange: 'accept', needs: 'owner', isPatient: false },
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
