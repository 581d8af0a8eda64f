/** README's table of events is the event table of the code. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EMITTED_NAMES, EVENTS, RESERVED_NAMES } from '../../src/contract/events.ts';

test('README has each event of the catalog, in its order, with its guarantee', async () => {
  const readme = await readFile(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');
  const table = readme.slice(readme.indexOf('| event | guarantee |')).split('\n\n')[0] ?? '';
  const rows = [...table.matchAll(/^\| `([a-z_.]+)` \| (guaranteed|conditional)/gm)];
  expect(rows.map(([, name, guarantee]) => [name, guarantee])).toEqual(
    EMITTED_NAMES.map((name) => [name, EVENTS[name].guarantee]),
  );
  const [reserved = ''] = /^\| (`.*`) \| reserved, never emitted/m.exec(table)?.slice(1) ?? [];
  expect(reserved.replaceAll('`', '').split(', ').toSorted()).toEqual([...RESERVED_NAMES].toSorted());
});
