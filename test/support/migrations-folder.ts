/** Copies of drizzle/ that tests change, as the next release would. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MIGRATIONS_FOLDER } from '../../src/db/migrations/migration-files.ts';
import { makeTestFolder } from './test-folder.ts';

export type MigrationsFolder = Awaited<ReturnType<typeof copyMigrations>>;

export async function copyMigrations() {
  const folder = await makeTestFolder();
  const path = join(folder.path, 'drizzle');
  await cp(MIGRATIONS_FOLDER, path, { recursive: true });
  const read = (name: string) => readFile(join(path, name), 'utf8');
  return {
    path,
    read,
    /** Adds a numbered migration, or changes the file that has this name. */
    async write(name: string, sql: string) {
      await writeFile(join(path, name), sql);
      const journal = JSON.parse(await read('meta/_journal.json')) as { entries: { idx: number; tag: string }[] };
      const tag = name.replace('.sql', '');
      if (!/^\d{4}_/.test(name) || journal.entries.some((entry) => entry.tag === tag)) return;
      const entries = [...journal.entries, { ...journal.entries[0], idx: journal.entries.length, tag }];
      await writeFile(join(path, 'meta/_journal.json'), JSON.stringify({ ...journal, entries }));
    },
  };
}
