import { type Installation, ROLES } from '../installation.ts';
import { MigrationRefused } from './migration-refused.ts';
import type { Tx } from '../sql.ts';

/**
 * Makes an installation's missing roles and two empty schemas. Roles belong to the whole server, so others may have made them. Throws
 * {@link MigrationRefused} when a schema of that name is somebody else's.
 */
export async function prepareSchema(tx: Tx, { schema, rolePrefix }: Installation): Promise<void> {
  const owner = `${rolePrefix}_owner`;
  for (const role of ROLES) await makeRole(tx, `${rolePrefix}_${role}`);
  await tx`select set_config('carteiro.owner', ${owner}, true)`;
  await tx.unsafe(`
    do $$
    begin
      if not pg_has_role(current_setting('carteiro.owner'), 'set') then
        execute format('grant %I to %I', current_setting('carteiro.owner'), current_user);
      end if;
    end
    $$`);
  for (const name of [schema, `${schema}_auditoria`]) await makeSchema(tx, name, owner);
}

/**
 * Throws {@link MigrationRefused} when another schema holds tables of an early release without `applied_migrations`: a second installation
 * would start empty unnoticed. A core's own tables of these names have other columns.
 */
export async function refuseEarlierRelease(sql: Tx): Promise<void> {
  const [found] = await sql<{ schema: string }[]>`
    select n.nspname as schema
    from (values ('lanes', 'next_due_at'), ('arrivals', 'webhook_id'), ('deliveries', 'claimed_by')) mark (name, column_name)
    join pg_class c on c.relname = mark.name and c.relkind in ('r', 'p')
    join pg_attribute a on a.attrelid = c.oid and a.attname = mark.column_name
    join pg_namespace n on n.oid = c.relnamespace
    where not exists (select from pg_class k where k.relnamespace = n.oid and k.relname = 'applied_migrations')
    group by n.nspname
    having count(*) = 3`;
  if (found === undefined) return;
  throw new MigrationRefused(
    `the schema "${found.schema}" holds the tables of an earlier release (lanes, arrivals, deliveries and others), which this ` +
      'one cannot take over, and a second installation beside them would start empty',
    'to keep them, set DATABASE_URL to another database; to begin anew here, stop that release and drop its tables',
  );
}

async function makeRole(tx: Tx, role: string): Promise<void> {
  const [known] = await tx`select from pg_roles where rolname = ${role}`;
  if (known) return;
  // Another database's migration may have just made it.
  await tx.unsafe(`
    do $$
    begin
      create role "${role}" nologin;
    exception when duplicate_object or unique_violation then
      null;
    end
    $$`);
}

async function makeSchema(tx: Tx, schema: string, owner: string): Promise<void> {
  const [found] = await tx<{ owner: string; strangers: string | null }[]>`
    select pg_get_userbyid(n.nspowner) as owner,
           (select string_agg(name, ', ' order by name)
            from (
              select relname, relowner from pg_class where relnamespace = n.oid and relkind not in ('i', 'I', 't')
              union
              select proname, proowner from pg_proc where pronamespace = n.oid
              union
              select typname, typowner from pg_type where typnamespace = n.oid and typrelid = 0 and typelem = 0
            ) object (name, owner)
            where pg_get_userbyid(owner) <> ${owner}) as strangers
    from pg_namespace n where n.nspname = ${schema}`;
  if (found === undefined) {
    await tx.unsafe(`create schema "${schema}" authorization "${owner}"`);
    return;
  }
  if (found.strangers !== null) {
    throw new MigrationRefused(
      `the schema "${schema}" holds what is not Carteiro's: ${found.strangers}`,
      'set DATABASE_SCHEMA to another name',
    );
  }
  if (found.owner !== owner) {
    throw new MigrationRefused(
      `the schema "${schema}" belongs to ${found.owner}, not to ${owner}`,
      `if it is meant for Carteiro: alter schema "${schema}" owner to ${owner}; else set DATABASE_SCHEMA to another name`,
    );
  }
}
