/**
 * Which files of drizzle/ a database lacks.
 * `applied_migrations` has a row for each application of a file. A numbered migration is applied once. A function's file is not pending
 * when its version was first applied no later than the version in place now. So a process of the previous release runs on beside the next
 * release's functions, and a new process notices when an older release's `migrate` has put the old ones back.
 */
import { lossesOf } from '../../contract/catalog-change.ts';
import { type CatalogEntry, eventCatalog } from '../../contract/event-catalog.ts';
import { DEFAULT_INSTALLATION } from '../installation.ts';
import { type MigrationFile, readMigrationFiles } from './migration-files.ts';
import { MigrationRefused } from './migration-refused.ts';
import type { Tx } from '../sql.ts';

interface Applied {
  readonly name: string;
  readonly hash: string;
  /** Positions of the first and the last application. */
  readonly first: number;
  readonly last: number;
}

let ownFiles: Promise<MigrationFile[]> | null = null;

/** How many of this version's files are missing in the installation's `schema`. */
export async function pendingMigrations(sql: Tx, schema = DEFAULT_INSTALLATION.schema): Promise<number> {
  ownFiles ??= readMigrationFiles();
  return (await missing(sql, await ownFiles, schema)).length;
}

/**
 * What `migrate` applies: missing files, functions of which another version is in place, the rights with any change, and the storage with
 * new tables or columns. Throws {@link MigrationRefused} for a database of a newer release, or a numbered migration that changed after it
 * was applied.
 */
export async function pendingFiles(sql: Tx, files: readonly MigrationFile[], schema: string): Promise<MigrationFile[]> {
  const applied = await readApplied(sql, schema);
  const known = new Set(files.map(({ name }) => name));
  const unknown = applied.find(({ name }) => !name.includes('/') && !known.has(name));
  if (unknown) {
    throw new MigrationRefused(
      `the schema "${schema}" has the migration ${unknown.name}, which this version does not know`,
      'run the newer version',
    );
  }
  const changed = files.find(
    ({ name, kind, hash }) => kind === 'versioned' && applied.some((row) => row.name === name && row.hash !== hash),
  );
  if (changed) {
    throw new MigrationRefused(
      `${changed.name} has changed since it was applied to the schema "${schema}"`,
      'a released migration never changes; a database of an unreleased version must be made anew',
    );
  }
  const pending = new Set(files.filter((file) => lastOf(applied, file.name)?.hash !== file.hash));
  if (pending.size === 0) return [];
  const hasTables = [...pending].some(({ kind }) => kind === 'versioned');
  return files.filter(
    (file) => pending.has(file) || file.name === 'rights.sql' || (hasTables && file.name === 'storage.sql'),
  );
}

/** Throws {@link MigrationRefused} when the catalog would lose something of the database's, which another release may use. */
export async function refuseLosses(
  sql: Tx,
  schema: string,
  catalog: readonly CatalogEntry[] = eventCatalog(),
): Promise<void> {
  const table = `"${schema}".event_types`;
  const [{ isThere }] = await sql<[{ isThere: boolean }]>`select to_regclass(${table}) is not null as "isThere"`;
  if (!isThere) return;
  const losses = lossesOf(await sql.unsafe<CatalogEntry[]>(`select * from ${table} order by name`), catalog);
  if (losses.length === 0) return;
  const next = 'run the release that this database was migrated by, or a newer one; a change of the catalog only adds';
  throw new MigrationRefused(`the event catalog would lose what the database has: ${losses.join('; ')}`, next);
}

async function missing(sql: Tx, files: readonly MigrationFile[], schema: string): Promise<MigrationFile[]> {
  const applied = await readApplied(sql, schema);
  return files.filter(({ name, kind, hash }) => {
    const mine = applied.find((row) => row.name === name && row.hash === hash);
    if (mine === undefined || kind === 'versioned') return mine === undefined;
    return (lastOf(applied, name)?.first ?? 0) < mine.first;
  });
}

/** Files whose version in place is a newer release's. */
export async function newerFiles(
  sql: Tx,
  files: readonly MigrationFile[],
  schema: string,
): Promise<ReadonlySet<string>> {
  const applied = await readApplied(sql, schema);
  const hashes = new Map(files.map(({ name, hash }) => [name, hash]));
  const names = applied.map(({ name }) => name).filter((name) => name.startsWith('functions/'));
  return new Set(
    names.filter((name) => {
      const mine = applied.find((row) => row.name === name && row.hash === hashes.get(name));
      return mine === undefined ? !hashes.has(name) : (lastOf(applied, name)?.first ?? 0) > mine.first;
    }),
  );
}

function lastOf(applied: readonly Applied[], name: string): Applied | undefined {
  return applied.filter((row) => row.name === name).toSorted((a, b) => b.last - a.last)[0];
}

async function readApplied(sql: Tx, schema: string): Promise<Applied[]> {
  const table = `"${schema}".applied_migrations`;
  const [{ isThere }] = await sql<[{ isThere: boolean }]>`select to_regclass(${table}) is not null as "isThere"`;
  if (!isThere) return [];
  return sql.unsafe<Applied[]>(
    `select name, hash, min(position)::float8 as first, max(position)::float8 as last from ${table} group by name, hash`,
  );
}
