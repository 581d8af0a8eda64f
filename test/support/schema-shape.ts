/** What a schema is made of, as lines of text, and the rows of its tables, as digests. */
import type { Sql } from '../../src/db/pool.ts';

const SCHEMAS = ['carteiro', 'carteiro_auditoria'];

/**
 * Every table, column, index, constraint, function, view, trigger, type and right of the installation, sorted: two databases
 * with equal lines are of the same release, however they came to it.
 */
export async function shapeOf(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with own as (select oid, nspname from pg_namespace where nspname = any (${SCHEMAS})),
    relation as (select c.*, own.nspname || '.' || c.relname as name from pg_class c join own on own.oid = c.relnamespace)
    select format('relation %s %s %s owner %s options %s replica %s rights %s', name, relkind,
                  case when relkind = 'v' then pg_get_viewdef(oid) end, pg_get_userbyid(relowner), reloptions, relreplident, (select array_agg(item::text order by item::text) from unnest(relacl) item)) as line
    from relation
    union all
    select format('column %s.%s %s null %s default %s identity %s generated %s statistics %s rights %s', name, attname,
                  format_type(atttypid, atttypmod), not attnotnull, pg_get_expr(adbin, adrelid), attidentity, attgenerated,
                  attstattarget, (select array_agg(item::text order by item::text) from unnest(attacl) item))
    from relation r
    join pg_attribute a on a.attrelid = r.oid and attnum > 0 and not attisdropped
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    union all
    select format('index %s valid %s', pg_get_indexdef(indexrelid), indisvalid)
    from pg_index i join relation r on r.oid = i.indrelid
    union all
    select format('constraint %s %s %s valid %s', name, conname, pg_get_constraintdef(k.oid), convalidated)
    from pg_constraint k join relation r on r.oid = k.conrelid
    union all
    select format('trigger %s %s', pg_get_triggerdef(t.oid), tgenabled)
    from pg_trigger t join relation r on r.oid = t.tgrelid where not tgisinternal
    union all
    select format('function %s owner %s rights %s', pg_get_functiondef(f.oid), pg_get_userbyid(proowner), (select array_agg(item::text order by item::text) from unnest(proacl) item))
    from pg_proc f join own on own.oid = f.pronamespace
    union all
    select format('type %s %s %s', typname, typtype, (select array_agg(enumlabel order by enumsortorder) from pg_enum
                                                       where enumtypid = t.oid))
    from pg_type t join own on own.oid = t.typnamespace
    order by line`;
  return rows.map(({ line }) => line);
}

export interface Rows {
  /** Of one table: how many rows, and a digest over them, in the columns that it had when this was made. */
  readonly digests: Readonly<Record<string, string>>;
  /** The same columns of the same tables now. */
  again(): Promise<Readonly<Record<string, string>>>;
}

/** The rows of every table but that of the applied migrations. */
export async function rowsOf(sql: Sql): Promise<Rows> {
  const tables = await sql<{ name: string; columns: string }[]>`
    select c.oid::regclass::text as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and attnum > 0 and not attisdropped
    where c.relnamespace = 'carteiro'::regnamespace and relkind = 'r' and relname <> 'applied_migrations'
    group by c.oid`;
  const read = async () => {
    const digests: Record<string, string> = {};
    for (const { name, columns } of tables) {
      const [row] = await sql.unsafe<[{ digest: string }]>(
        `select count(*) || ' ' || coalesce(md5(string_agg(md5(row::text), '' order by md5(row::text))), '') as digest
         from (select ${columns} from ${name}) row`,
      );
      digests[name] = row.digest;
    }
    return digests;
  };
  return { digests: await read(), again: read };
}
