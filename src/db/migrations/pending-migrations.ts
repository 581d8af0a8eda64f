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
  const applied = await readApplied(sql, schema);
  return (await ownFiles).filter((file) => ['missing', 'older'].includes(standingOf(file, applied))).length;
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
  const pending = new Set(files.filter((file) => standingOf(file, applied) !== 'current'));
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

/** Files whose version in place is a newer release's, or that only a newer one has. */
export async function newerFiles(
  sql: Tx,
  files: readonly MigrationFile[],
  schema: string,
): Promise<ReadonlySet<string>> {
  const applied = await readApplied(sql, schema);
  const own = new Map(files.map((file) => [file.name, file]));
  const names = applied.map(({ name }) => name).filter((name) => name.startsWith('functions/'));
  return new Set(
    names.filter((name) => {
      const file = own.get(name);
      return file === undefined || standingOf(file, applied) === 'newer';
    }),
  );
}

/** `older`, `newer`: another version is in place, first applied before or after ours. */
function standingOf({ name, hash }: MigrationFile, applied: readonly Applied[]) {
  const versions = applied.filter((row) => row.name === name).toSorted((a, b) => b.last - a.last);
  const [inPlace] = versions;
  const mine = versions.find((row) => row.hash === hash);
  if (inPlace === undefined || mine === undefined) return 'missing';
  if (inPlace === mine) return 'current';
  return inPlace.first < mine.first ? 'older' : 'newer';
}

async function readApplied(sql: Tx, schema: string): Promise<Applied[]> {
  const table = `"${schema}".applied_migrations`;
  const [{ isThere }] = await sql<[{ isThere: boolean }]>`select to_regclass(${table}) is not null as "isThere"`;
  if (!isThere) return [];
  return sql.unsafe<Applied[]>(
    `select name, hash, min(position)::float8 as first, max(position)::float8 as last from ${table} group by name, hash`,
  );
}
