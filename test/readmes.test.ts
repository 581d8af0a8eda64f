/** The READMEs: a front page that stays one, links that lead somewhere, and files that exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { durationText, RETRY_DELAYS_S } from '../src/contract/schedule.ts';

const root = path.resolve(import.meta.dirname, '..');
const MAX_FRONT_PAGE_BYTES = 8_192;

const pages = globSync('{README.md,{src,test,drizzle}/**/*.md}', { cwd: root }).toSorted();
const textOf = (page: string) => readFileSync(path.join(root, page), 'utf8');
/** Without its fenced blocks, where a `#` or a bracket is code. */
const proseOf = (page: string) => textOf(page).replaceAll(/^```.*?^```$/gms, '');

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What is wrong with a link, or null. */
function fault(page: string, link: string): string | null {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : path.join(path.dirname(page), file);
  if (!existsSync(path.join(root, target))) return `${page}: ${link}: there is no ${target}`;
  if (anchor !== undefined && !anchorsOf(target).includes(anchor)) return `${page}: ${link}: no such heading`;
  return null;
}

test('the front page is at most 8 KB and names the two commands', () => {
  expect(Buffer.byteLength(textOf('README.md'))).toBeLessThanOrEqual(MAX_FRONT_PAGE_BYTES);
  expect(textOf('README.md')).toContain('```sh\nnpm ci && npm start\n```');
  expect(textOf('README.md')).toContain('```sh\nnpm ci && npm test\n```');
});

test('every relative link of every README leads to a file, and its anchor to a heading', () => {
  const links = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => [page, link] as const),
  );
  const relative = links.filter(([, link]) => !/^[a-z]+:/.test(link));
  expect(relative.length).toBeGreaterThan(10);
  expect(relative.map(([page, link]) => fault(page, link)).filter((found) => found !== null)).toEqual([]);
});

test('the check sees a file and a heading that are not there', () => {
  expect(fault('README.md', 'src/nowhere.md')).toContain('there is no');
  expect(fault('src/http/README.md', '../log/README.md#nothing')).toContain('no such heading');
  expect(fault('src/http/README.md', '#the-sandbox')).toBeNull();
});

test('every file that a README names by its path from the root exists', () => {
  const named = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/`((?:src|test|drizzle)\/[\w./-]+\.\w+)`/g)].map(
      ([, file = '']) => [page, file] as const,
    ),
  );
  expect(named.filter(([, file]) => !existsSync(path.join(root, file)))).toEqual([]);
});

test('the schedule that the READMEs tell is the pollers’ own', () => {
  const delays = RETRY_DELAYS_S.map(durationText);
  const reported = `${delays.slice(0, -1).join(', ')} and ${delays.at(-1)}`;
  for (const page of ['README.md', 'src/http/README.md']) expect(textOf(page)).toContain(reported);
  expect(textOf('src/http/README.md')).toContain(
    durationText(RETRY_DELAYS_S.reduce<number>((sum, delayS) => sum + delayS, 0)),
  );
});

test('every package of production is in the list of parts that are not ours, and nothing else is', () => {
  const manifest = JSON.parse(textOf('package.json')) as { dependencies: Record<string, string> };
  const [, list = ''] = textOf('src/README.md').split('## Parts that are not ours');
  const rows = [...(list.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+`) \|/gm)].map(([, names = '']) => names);
  const listed = rows.flatMap((names) => names.replaceAll('`', '').split(', '));
  expect(listed.toSorted()).toEqual(Object.keys(manifest.dependencies).toSorted());
});

/** The files that comments name, in TypeScript and SQL; a name counts where some file's path ends with it. */
function missingIn(file: string, text: string, known: readonly string[]): string[] {
  const comments = text.match(/(?:\/\/|^\s*\*|\/\*\*|--).*$/gm) ?? [];
  const named = comments.flatMap(
    (line) => line.match(/(?<![\w./:-])(?:[\w.-]+\/)*[\w-]+\.(?:ts|sql|md|ya?ml)\b/g) ?? [],
  );
  const isThere = (name: string) =>
    known.some((one) => one === name || one.endsWith(`/${name}`)) ||
    existsSync(path.resolve(root, path.dirname(file), name));
  return [...new Set(named)].filter((name) => !isThere(name)).map((name) => `${file}: there is no ${name}`);
}

test('every file that a comment of the source names exists', () => {
  const known = globSync('{src,test,drizzle,.ci,*}/**/*.*', { cwd: root, exclude: ['node_modules/**'] });
  const sources = globSync('{src/**/*.ts,drizzle/**/*.sql}', { cwd: root });
  expect(sources.flatMap((file) => missingIn(file, textOf(file), known))).toEqual([]);
  expect(missingIn('src/x.ts', '// as in queue/nowhere.ts', known)).toEqual(['src/x.ts: there is no queue/nowhere.ts']);
});
