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
