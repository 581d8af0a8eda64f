/** What the pages say of evidence: the lines that may say true, and the formats. */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { columnsOf, SOURCE_NAMES } from '../../src/db/sealed-rows.ts';

const ROOM = new URL('../../src/audit/', import.meta.url);
const read = (name: string) => readFile(new URL(name, ROOM), 'utf8');

test('twelve lines at most decide that a proof is true, and the page shows them', async () => {
  const [, lines = ''] = /\/\/ Decides[^\n]*\n([^]+?)\/\/ End\./.exec(await read('proof/check-proof.ts')) ?? [];
  expect(lines.trim().split('\n').length).toBeLessThanOrEqual(12);
  expect(await read('README.md')).toContain(lines);
  const files = (await readdir(new URL('proof/', ROOM))).filter((name) => name.endsWith('.ts'));
  const sources = await Promise.all(files.map((name) => read(`proof/${name}`)));
  expect(sources.join('').replace(lines, '')).not.toMatch(/fits: true|fits = true/);
});

test('the formats’ page has the columns of each table in their order', async () => {
  const page = await read('seals/README.md');
  for (const source of SOURCE_NAMES) expect(page).toContain(`| \`${source}\` | ${columnsOf(source).join(' ')} |`);
});
