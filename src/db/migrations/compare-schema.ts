/**
 * Compares the database with what this release would make.
 * A transaction that is rolled back makes everything of the release again as temporary objects, from the files of drizzle/: tables,
 * functions, views, triggers, rights and the catalog's rows. Then the server's catalogs are compared, so one PostgreSQL writes both sides.
 * It locks nothing of the installation and needs the right TEMPORARY. Alternative: digests of definitions, which differ with each version
 * of PostgreSQL.
 */
import { lossesOf } from '../../contract/catalog-change.ts';
import type { CatalogEntry } from '../../contract/event-catalog.ts';
import { type Installation, searchPathOf } from '../installation.ts';
import type { Pool, Tx } from '../pool.ts';
import { isUnavailable } from '../unavailable.ts';
import { APPLIED_MIGRATIONS, type MigrationFile, readMigrationFiles, sqlFor } from './migration-files.ts';
import { newerFiles } from './pending-migrations.ts';

interface SchemaDifference {
  /** `attempts`, `function mask(content text)`. */
  readonly name: string;
  readonly detail: string;
}

export interface ComparedSchema {
  readonly differences: readonly SchemaDifference[];
  /** What could not be compared, and why; null if everything was. */
  readonly uncompared: string | null;
}

/** Compares as much as the login may read. */
export async function compareSchema(pool: Pool, installation: Installation): Promise<ComparedSchema> {
  const files = await readMigrationFiles();
  return pool.run(async (sql) => {
    const [{ standby, maker }] = await sql<[{ standby: boolean; maker: string }]>`
      select pg_is_in_recovery() as standby, current_user as maker`;
    if (standby) return { differences: [], uncompared: 'nothing: on a standby nothing can be made' };
    await sql`begin`;
    try {
      const { schema } = installation;
      await sql`select set_config('search_path', ${`pg_temp, ${searchPathOf(schema)}`}, true)`;
      try {
        await sql.unsafe(APPLIED_MIGRATIONS);
        for (const file of inOrder(files)) await sql.unsafe(asTemporary(file, installation)).simple();
      } catch (error) {
        if (isUnavailable(error)) throw error;
        const why = (error as Error).message;
        return { differences: [], uncompared: `nothing, because temporary objects can't be made: ${why}` };
      }
      // From here no function or operator of the schema can replace one of the server's own.
      await sql`set local search_path = pg_catalog`;
      const rows = await changedEvents(sql, schema);
      const found = [
        ...(await differences(sql, schema, maker)),
        ...(await findUnexpectedObjects(sql, schema)),
        ...rows,
      ];
      const newer = found.filter(isOfNewer(files, await newerFiles(sql, files, schema)));
      const uncompared = [
        ...(OF_PRODUCT_NAME.test(maker) ? [`the rights of ${maker}, which compares them`] : []),
        ...(newer.length > 0
          ? [`what a newer release has made anew: ${newer.map(({ name }) => name).join(', ')}`]
          : []),
      ];
      return {
        differences: found.filter((difference) => !newer.includes(difference)),
        uncompared: uncompared.length === 0 ? null : uncompared.join('; '),
      };
    } finally {
      await sql`rollback`;
    }
  });
}

/**
 * Whether one of the `newer` files makes an object, by applied_migrations. The database's owner can write there, so each is listed as not
 * compared; its own release can compare it.
 */
function isOfNewer(files: readonly MigrationFile[], newer: ReadonlySet<string>) {
  const texts = files.filter(({ name }) => newer.has(name)).map(({ sql }) => sql);
  return ({ name }: SchemaDifference): boolean => {
    const [bare = ''] = name.replace(/^function /, '').split('(');
    const file = `functions/${bare.replace(/^auditoria_/, 'auditoria.')}.sql`;
    return newer.has(file) || texts.some((sql) => sql.includes(`replace function ${bare}(`));
  };
}

/** Catalog events that lack something of this release. A newer release may have added to them. */
async function changedEvents(sql: Tx, schema: string): Promise<SchemaDifference[]> {
  const made = await sql.unsafe<CatalogEntry[]>('select * from pg_temp.event_types order by name');
  const found = await sql.unsafe<CatalogEntry[]>(`select * from "${schema}".event_types`);
  return made
    .filter((entry) => lossesOf([entry], found).length > 0)
    .map(({ name }) => ({ name: 'event_types', detail: `its row ${name} is not as the release has it` }));
}

const MADE = new Set(['db/sealed-rows.ts', 'rights.sql']);

/** The catalog's rows come before its triggers, which would generate functions. */
function inOrder(files: readonly MigrationFile[]): MigrationFile[] {
  const isCatalog = ({ name }: MigrationFile) => name === 'contract/event-catalog.ts';
  const isMade = ({ name }: MigrationFile) => name.startsWith('functions/') || MADE.has(name);
  return [...files.filter(({ kind }) => kind === 'versioned'), ...files.filter(isCatalog), ...files.filter(isMade)];
}

/** The file's SQL for temporary objects; the auditors' schema gets another name. */
function asTemporary({ name, sql }: MigrationFile, installation: Installation): string {
  const own = (name === 'rights.sql' ? sql.replaceAll(/^do \$\$.*?^\$\$;/gms, '') : sql)
    .replaceAll(/^-- outside a transaction\n/g, '')
    .replaceAll(/create index concurrently/gi, 'create index')
    .replaceAll(/^update [^;]+;/gm, '')
    .replaceAll(/^\s*drop view if exists [^;]+;/gm, '')
    .replaceAll(/grant usage on schema [^;]+;/g, '')
    .replaceAll(/\bcarteiro_auditoria\.(?=\w)/g, 'auditoria_')
    .replaceAll(/execute function (\w+)\(/gi, 'execute function pg_temp.$1(')
    .replaceAll(/on function[^;]+?\bto\b/g, (names) => names.replaceAll(/\b(\w+)\(/g, 'pg_temp.$1('));
  return sqlFor({ sql: own }, installation);
}

/** Without schemas, and without the number that `adopt` adds to an epoch. */
const plain = (expression: string) =>
  `regexp_replace(regexp_replace(${expression}, '(pg_temp(_\\d+)?|"?' || $1 || '(_auditoria)?"?)\\.', '', 'g'), '\\+ \\d+\\)+::smallint', '+ 0)::smallint')`;

/** Rights beside the owner's: the product's roles, and any other role that may write. */
const rights = (acl: string, owner: string, isOfProduct: string) =>
  `(select coalesce(string_agg(grantee::regrole || ' ' || privilege_type, ', ' order by grantee::regrole::text, privilege_type), '')
    from aclexplode(${acl}) where grantee not in (${owner}, $3::regrole) and (${isOfProduct}))`;

const OF_PRODUCT_NAME = /_(app|poller|core|migrator|auditor|auditor_cpf)$/;

const OF_PRODUCT = `privilege_type not in ('SELECT', 'REFERENCES') or grantee::regrole::text like '%\\_app' or grantee::regrole::text ~ '_(poller|core|migrator|auditor|auditor_cpf)$'`;

/** `maker` owns the temporary objects and so has every right; its own rights are not compared. */
async function differences(sql: Tx, schema: string, maker: string): Promise<SchemaDifference[]> {
  const objects = `
    select n.nspname like 'pg_temp%' as made,
           case when n.nspname = $1 || '_auditoria' then 'auditoria_' else '' end || c.relname as name,
           jsonb_build_object(
             'kind', c.relkind,
             'definition', case c.relkind when 'v' then ${plain('pg_get_viewdef(c.oid)')} end,
             'options', case c.relkind when 'v' then c.reloptions end,
             'columns', (select jsonb_object_agg(attname, concat_ws(' ', ${plain('format_type(atttypid, atttypmod)')},
                 case when attnotnull then 'not null' end, nullif(attidentity::text, ''), nullif(attgenerated::text, ''),
                 ${plain('pg_get_expr(adbin, adrelid)')}))
               from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
               where attrelid = c.oid and attnum > 0 and not attisdropped),
             'constraints', (select jsonb_object_agg(conname, ${plain('pg_get_constraintdef(k.oid)')} || case when convalidated then '' else ' not valid' end)
               from pg_constraint k where conrelid = c.oid and contype in ('c', 'p', 'u', 'f')),
             'unique indexes', (select jsonb_object_agg(i.relname, ${plain('pg_get_indexdef(i.oid)')})
               from pg_index x join pg_class i on i.oid = indexrelid
               where indrelid = c.oid and indisunique and indisvalid
                 and not exists (select from pg_constraint where conindid = i.oid and contype in ('p', 'u'))),
             'triggers', (select jsonb_object_agg(tgname, ${plain('pg_get_triggerdef(t.oid)')} || ' ' || tgenabled::text)
               from pg_trigger t where tgrelid = c.oid and not tgisinternal),
             'rights', ${rights('c.relacl', 'c.relowner', OF_PRODUCT)},
             'rights by column', (select jsonb_object_agg(attname, ${rights('attacl', 'c.relowner', OF_PRODUCT)})
               from pg_attribute where attrelid = c.oid and attacl is not null)
           ) as shape
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where (n.oid = pg_my_temp_schema() or n.nspname in ($1, $1 || '_auditoria')) and c.relkind in ('r', 'p', 'v', 'm', 'f')
    union all
    select n.nspname like 'pg_temp%', 'function ' || p.proname || '(' || ${plain('pg_get_function_identity_arguments(p.oid)')} || ')',
           jsonb_build_object(
             'definition', regexp_replace(${plain('pg_get_functiondef(p.oid)')}, '^ SET search_path TO [^\\n]*$', ' SET search_path', 'n'),
             'settings', (select array_agg(case when n.oid = pg_my_temp_schema() and setting like 'search\\_path=%' then 'search_path=' || $2 else setting end)
                              from unnest(p.proconfig) setting),
             'rights', ${rights("coalesce(p.proacl, acldefault('f', p.proowner))", 'p.proowner', 'grantee <> 0 or n.nspname = $1')})
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where (n.oid = pg_my_temp_schema() or n.nspname = $1) and p.prokind = 'f'`;
  return sql.unsafe<SchemaDifference[]>(
    `with object as materialized (${objects})
     select made.name,
            case when found.name is null then 'it is missing' else 'not as the release makes it: ' || (
              select string_agg(key, ', ' order by key) from jsonb_each(made.shape) where value is distinct from found.shape -> key) end as detail
     from object made left join object found on found.name = made.name and not found.made
     where made.made and made.shape is distinct from found.shape
     union all
     select found.name, 'the release does not make it'
     from object found
     where not found.made and found.name like 'function %' and found.name not in (select name from object where made)
       -- Made of the catalog's rows, which are compared themselves (make_usual_event).
       and found.name not like 'function usual\\_event(%'
     order by 1`,
    [schema, searchPathOf(schema), `"${maker}"`],
  );
}

/**
 * Objects unknown to the release, which could change the meaning of names in its statements; and types' output functions that rows are
 * hashed with, which must be the server's own.
 */
function findUnexpectedObjects(sql: Tx, schema: string): Promise<SchemaDifference[]> {
  return sql.unsafe<SchemaDifference[]>(
    `with own as (select oid from pg_namespace where nspname in ($1::text, $1::text || '_auditoria'))
     select 'function ' || p.oid::regprocedure as name, 'the release does not make it' as detail
     from pg_proc p where p.pronamespace in (select oid from own) and p.prokind <> 'f'
     union all
     select 'operator ' || o.oid::regoperator, 'the release does not make it'
     from pg_operator o where o.oprnamespace in (select oid from own)
     union all
     select 'type ' || t.oid::regtype, 'the release does not make it'
     from pg_type t left join pg_class c on c.oid = t.typrelid
     where t.typnamespace in (select oid from own) and t.typelem = 0 and coalesce(c.relkind = 'c', true)
       and t.typname not in (select typname from pg_type where typnamespace = pg_my_temp_schema())
     union all
     select 'cast ' || k.castsource::regtype || ' as ' || k.casttarget::regtype, 'the release does not make it'
     from pg_cast k where k.oid >= 16384
     union all
     select c.oid::regclass || ' ' || r.rulename, 'the release makes no rule'
     from pg_rewrite r join pg_class c on c.oid = r.ev_class
     where c.relnamespace in (select oid from own) and r.rulename <> '_RETURN'
     union all
     select c.oid::regclass || ' ' || y.polname, 'the release makes no row policy'
     from pg_policy y join pg_class c on c.oid = y.polrelid where c.relnamespace in (select oid from own)
     union all
     select 'type ' || t.typname, 'its form is not the server''s own'
     from pg_type t left join pg_proc p on p.oid = t.typsend
     where t.typnamespace = 'pg_catalog'::regnamespace
       and t.typname in ('bool', 'bytea', 'int8', 'int2', 'int4', 'text', '_bytea', '_text', 'timestamptz', 'uuid', '_uuid', 'pg_snapshot', 'xid8', 'record')
       and (p.oid is null or p.oid >= 16384 or p.prosrc <> p.proname
            or p.proname not in (t.typname || 'send', t.typname || '_send', case when t.typelem <> 0 then 'array_send' end))
     order by 1`,
    [schema],
  );
}
