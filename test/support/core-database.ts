/** A loan core's old database, with names that are also ours, and a snapshot of the parts that we must not change. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject } from 'vitest';
import type { Installation } from '../../src/db/installation.ts';
import type { Sql } from '../../src/db/pool.ts';
import { SANDBOX_KEY } from './command.ts';
import { createEmptyDatabase } from './database.ts';
import { endOf } from './ends.ts';

export type CoreDatabase = Awaited<ReturnType<typeof createCoreDatabase>>;

export const PASSWORD = 'a-password-for-tests';

const DEPENDED_ON = '2BP01';

/** The core's own tables under our names, its own drizzle migrations, function, default privileges and search path. */
const CORE = `
  create schema core_own;
  create schema drizzle;
  create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
  insert into drizzle.__drizzle_migrations (hash, created_at) values ('of the core', 1);
  create table public.events (id bigserial primary key, name text);
  create table public.loans (id bigserial primary key, event bigint references public.events);
  create table core_own.documents (id bigserial primary key);
  create table core_own.accounts (id bigserial primary key, active boolean);
  create view core_own.webhooks as select 1 as id;
  create function public.append_event(text) returns text language sql return 'of the core';
  create type public.mood as enum ('good');
  create function public.notice() returns trigger language plpgsql as 'begin return new; end';
  create trigger notice before insert on public.events for each row execute function public.notice();
  insert into public.events (name) values ('one');
  insert into public.loans (event) values (1);
  grant select on public.events to public;
  alter default privileges in schema public grant select on tables to public;`;

/** Prefixes of the roles that this test file made. */
const prefixes: string[] = [];

/** Names of an installation that are unique in the server. */
export function installationOfItsOwn(): Installation {
  const name = `nb${randomBytes(5).toString('hex')}`;
  prefixes.push(name);
  return { schema: `${name}_s`, rolePrefix: name };
}

/** What a service of the installation is started with, beside the address of its database. */
export function environmentOf({ schema, rolePrefix }: Installation, dataDir: string): Record<string, string> {
  return {
    DATABASE_SCHEMA: schema,
    DATABASE_ROLE_PREFIX: rolePrefix,
    DATA_DIR: dataDir,
    SANDBOX: 'true',
    ALLOW_INSECURE_TARGETS: 'true',
    SECRETS_KEY: SANDBOX_KEY.toString('base64'),
    PORT: '0',
  };
}

export async function createCoreDatabase() {
  const { url, drop } = await createEmptyDatabase();
  const name = new URL(url).pathname.slice(1);
  const sql = postgres(url, { max: 2, onnotice: () => undefined });
  await sql.unsafe(CORE);
  await sql.unsafe(`alter database ${name} set search_path = core_own, public`);
  return {
    /** As superuser. */
    url,
    sql,
    name,
    /** The same database as the role of this name; every role's password is {@link PASSWORD}. */
    urlOf(role: string) {
      const own = new URL(url);
      own.username = role;
      own.password = PASSWORD;
      return own.href;
    },
    /** Removes the database and every role that its tests made. */
    drop: endOf(async () => {
      await sql.end({ timeout: 1 });
      await drop();
      await dropRoles();
    }),
  };
}

/** A role that still owns something in another database of this file is dropped with that database. */
async function dropRoles(): Promise<void> {
  const admin = postgres(inject('adminUrl'), { max: 1, onnotice: () => undefined });
  const roles = await admin<{ role: string }[]>`
    select format('%I', rolname) as role from pg_roles where rolname ~ ${`^(${prefixes.join('|')})_`}`;
  for (const { role } of roles) {
    await admin.unsafe(`drop owned by ${role}; drop role ${role}`).catch((error: { code?: string }) => {
      if (error.code !== DEPENDED_ON) throw error;
    });
  }
  await admin.end();
}

/**
 * Every catalog row that is not the installation's, as text with the transaction that wrote it. Creating, altering, owning or
 * granting anything changes the result.
 */
export async function fingerprintOf(sql: Sql, { schema, rolePrefix }: Installation): Promise<string[]> {
  const ours = [schema, `${schema}_auditoria`];
  const rows = await sql<{ row: string }[]>`
    with strange as (
      select oid, nspname from pg_namespace where nspname <> all (${ours}) and nspname !~ '^pg_(toast|temp)'
    )
    select row from (
      select format('schema %s', n) as row from (
        select n.nspname, n.nspowner, n.nspacl, n.xmin from pg_namespace n join strange using (oid)) n
      union all
      select format('relation %s', r) from (
        select s.nspname, c.oid, c.relname, c.relowner, c.relacl, c.reloptions, c.relkind, c.xmin
        from pg_class c join strange s on s.oid = c.relnamespace) r
      union all
      select format('column %s', a) from (
        select a.attrelid, a.attname, a.attacl, a.atttypid, a.attstattarget, a.xmin
        from pg_attribute a join pg_class c on c.oid = a.attrelid join strange s on s.oid = c.relnamespace) a
      union all
      select format('function %s', f) from (
        select s.nspname, f.oid, f.proname, f.proowner, f.proacl, f.proconfig, f.xmin
        from pg_proc f join strange s on s.oid = f.pronamespace) f
      union all
      select format('type %s', t) from (
        select s.nspname, t.oid, t.typname, t.typowner, t.typacl, t.xmin
        from pg_type t join strange s on s.oid = t.typnamespace) t
      union all
      select format('constraint %s', k) from (
        select k.oid, k.conname, k.xmin from pg_constraint k join strange s on s.oid = k.connamespace) k
      union all
      select format('trigger %s', t) from (
        select t.oid, t.tgname, t.tgenabled, t.xmin
        from pg_trigger t join pg_class c on c.oid = t.tgrelid join strange s on s.oid = c.relnamespace) t
      union all
      select format('default privileges %s', d) from (select d.*, d.xmin from pg_default_acl d) d
      union all
      select format('event trigger %s', e) from (select e.*, e.xmin from pg_event_trigger e) e
      union all
      select format('extension %s', e) from (select e.*, e.xmin from pg_extension e) e
      union all
      select format('database %s', d) from (
        select d.datname, d.datdba, d.datacl from pg_database d where d.datname = current_database()) d
      union all
      select format('setting %s', s) from (
        select s.* from pg_db_role_setting s
        where s.setdatabase = (select oid from pg_database where datname = current_database())) s
      union all
      select format('role %s in %s', m.member::regrole, m.roleid::regrole)
      from pg_auth_members m
      where starts_with(m.member::regrole::text, ${rolePrefix}) and not starts_with(m.roleid::regrole::text, ${rolePrefix})
    ) everything
    order by row`;
  return rows.map(({ row }) => row);
}
