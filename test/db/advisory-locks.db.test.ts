import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';

const { sql } = await createTestDatabase();

/** A lock without a number is null, and taking null takes nothing. */
test('each purpose for which an advisory lock is taken has a number of its own', async () => {
  const root = new URL('../../', import.meta.url);
  const purposes = new Set<string>();
  for await (const file of glob('{src,drizzle}/**/*.{ts,sql}', { cwd: root })) {
    const text = await readFile(new URL(file, root), 'utf8');
    for (const [, purpose = ''] of text.matchAll(/advisory_lock\('([^']+)'\)/g)) purposes.add(purpose);
  }
  expect(purposes.size).toBeGreaterThan(7);
  const rows = await sql<{ purpose: string; lock: string | null }[]>`
    select purpose, advisory_lock(purpose)::text as lock from unnest(${[...purposes]}::text[]) purpose`;
  expect(rows.filter(({ lock }) => lock === null)).toEqual([]);
  expect(new Set(rows.map(({ lock }) => lock)).size).toBe(purposes.size);
});
