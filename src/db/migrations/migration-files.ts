/**
 * The files under drizzle/: numbered migrations, each applied once, and files applied again whenever they have changed (functions and
 * views, one a file; storage.sql; rights.sql).
 * They use the default names; the auditors' schema, the roles and the settings' prefix of another installation are substituted here. All
 * other names are found by the search path, and drizzle-kit's `public` is removed.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TIMES_S } from '../../contract/delivery.ts';
import { KEPT_TEXTS } from '../../contract/erasure.ts';
import { MAX_ACTOR, OUTCOMES } from '../../contract/statuses.ts';
import { MASK_IN_SQL } from '../../contract/masking/mask-in-sql.ts';
import { type CatalogEntry, eventCatalog } from '../../contract/event-catalog.ts';
import { delaysInSql, SCHEDULES, type Schedules, slotsOf } from '../../contract/schedule.ts';
import { auditorsViews } from '../auditors-views.ts';
import type { Installation } from '../installation.ts';
import { sealedViews } from '../sealed-rows.ts';

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../drizzle', import.meta.url));

export interface MigrationFile {
  /** Its path under drizzle/; of a function or view, `functions/` and the file name, without the folder in between. */
  readonly name: string;
  readonly kind: 'versioned' | 'repeatable';
  readonly sql: string;
  /** SHA-256 of the file with its constants, hex. */
  readonly hash: string;
  /** For statements that PostgreSQL refuses inside a transaction: `create index concurrently`. */
  readonly isOutside: boolean;
}

export const APPLIED_MIGRATIONS = `create table if not exists applied_migrations (
  position bigint primary key generated always as identity,
  name text not null,
  hash text not null,
  applied_at timestamptz not null default now()
)`;

/** What repeatable files name as `{{NAME}}`: values of contract/, so that they are written once. */
export function constantsOf(schedules: Schedules = SCHEDULES): Readonly<Record<string, string>> {
  const slots = Object.values(schedules).map(slotsOf);
  return {
    MAX_ACTOR: String(MAX_ACTOR),
    LEASE_S: String(TIMES_S.lease),
    DELAYS_S: delaysInSql(schedules),
    MOST_FAILURES: String(Math.max(...slots)),
    KEPT_TEXTS: KEPT_TEXTS.join(','),
    OUTCOMES: OUTCOMES.join(','),
    ...MASK_IN_SQL,
  };
}

/** Replaces the constants; an unknown name stays. */
export function withConstants(written: string, constants = constantsOf()): string {
  return written.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => constants[name] ?? whole);
}

const OUTSIDE = '-- outside a transaction\n';
const MAKES_A_VIEW = /^create view /m;

/** All files in order: numbered ones, storage, functions, views, the catalog, first rows, rights. */
export async function readMigrationFiles(
  folder = MIGRATIONS_FOLDER,
  catalog: readonly CatalogEntry[] = eventCatalog(),
  constants = constantsOf(),
): Promise<MigrationFile[]> {
  const journal = await readFile(join(folder, 'meta/_journal.json'), 'utf8');
  const { entries } = JSON.parse(journal) as { entries: { tag: string }[] };
  const numbered = entries.map(({ tag }) => `${tag}.sql`);
  const objects = await readObjects(folder, constants);
  const isView = ({ sql }: MigrationFile) => MAKES_A_VIEW.test(sql);
  return [
    ...(await Promise.all(numbered.map((name) => read(folder, name, 'versioned')))),
    await read(folder, 'storage.sql', 'repeatable'),
    ...objects.filter((file) => !isView(file)),
    ...objects.filter(isView),
    ...auditorsViews().map(([name, sql]) => madeFile(name, sql)),
    madeFile('db/sealed-rows.ts', sealedViews()),
    madeFile('contract/event-catalog.ts', catalogRows(catalog)),
    await read(folder, 'first-rows.sql', 'repeatable'),
    await read(folder, 'rights.sql', 'repeatable'),
  ];
}

/** Functions and views in the order of their names; the folder that one lies in does not count. */
async function readObjects(folder: string, constants: Readonly<Record<string, string>>): Promise<MigrationFile[]> {
  const paths = (await readdir(join(folder, 'functions'), { recursive: true })).filter((path) => path.endsWith('.sql'));
  const nameOf = (path: string) => `functions/${basename(path)}`;
  // One after the other: all at once took more descriptors than a process of few has.
  const objects = await Array.fromAsync(paths, (path) =>
    read(folder, nameOf(path), 'repeatable', constants, join('functions', path)),
  );
  return objects.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function read(
  folder: string,
  name: string,
  kind: MigrationFile['kind'],
  constants: Readonly<Record<string, string>> = {},
  path = name,
): Promise<MigrationFile> {
  const sql = withConstants(await readFile(join(folder, path), 'utf8'), constants);
  return { ...madeFile(name, sql), kind, isOutside: sql.startsWith(OUTSIDE) };
}

/** The rows of `event_types` from contract/, written again whenever that has changed. */
function catalogRows(entries: readonly CatalogEntry[]): string {
  const rows = JSON.stringify(entries).replaceAll("'", "''");
  return `
    insert into event_types as known (name, kind, families, payload, keys, kinds, formats, optional, least)
    select name, kind, families, payload, keys, kinds, formats, optional, least
    from json_to_recordset('${rows}') as entry (
      name text, kind text, families text[], payload json, keys text[], kinds text[], formats text[], optional text[], least int)
    on conflict (name) do update
    set kind = excluded.kind, families = excluded.families, payload = excluded.payload, keys = excluded.keys,
        kinds = excluded.kinds, formats = excluded.formats, optional = excluded.optional, least = excluded.least,
        version = known.version + 1
    where (known.kind, known.families, known.payload::text, known.optional)
       is distinct from (excluded.kind, excluded.families, excluded.payload::text, excluded.optional)`;
}

/** A file without a text of its own, named by the module that makes it. */
function madeFile(name: string, sql: string): MigrationFile {
  const hash = createHash('sha256').update(sql).digest('hex');
  return { name, kind: 'repeatable', sql, hash, isOutside: false };
}

export function sqlFor({ sql }: Pick<MigrationFile, 'sql'>, { schema, rolePrefix }: Installation): string {
  return sql
    .replaceAll('"public".', '')
    .replaceAll(/'carteiro\.(?=(?:taken|known_server)')/g, `'${schema}.`)
    .replaceAll(/\bcarteiro_auditoria\b/g, `"${schema}_auditoria"`)
    .replaceAll(/\bcarteiro_(?=(?:owner|app|poller|auditor|auditor_cpf|core|migrator)\b)/g, `${rolePrefix}_`);
}
