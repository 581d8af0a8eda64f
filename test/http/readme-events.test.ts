/** The table of events in test/http/README.md is the event table of the code, and the tests that it names exist. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EMITTED_NAMES, EVENTS, RESERVED_NAMES } from '../../src/contract/events.ts';

const readTable = async () => {
  const readme = await readFile(path.join(import.meta.dirname, 'README.md'), 'utf8');
  return readme.slice(readme.indexOf('| event | guarantee |')).split('\n\n')[0] ?? '';
};

test('the page has each event of the catalog, in its order, with its guarantee', async () => {
  const table = await readTable();
  const rows = [...table.matchAll(/^\| `([a-z_.]+)` \| (guaranteed|conditional)/gm)];
  expect(rows.map(([, name, guarantee]) => [name, guarantee])).toEqual(
    EMITTED_NAMES.map((name) => [name, EVENTS[name].guarantee]),
  );
  const [reserved = ''] = /^\| (`.*`) \| reserved, never emitted/m.exec(table)?.slice(1) ?? [];
  expect(reserved.replaceAll('`', '').split(', ').toSorted()).toEqual([...RESERVED_NAMES].toSorted());
});

test('the tests that it names exist', async () => {
  const named = [...(await readTable()).matchAll(/^\| `[^|]* \| [^|]* \| `([\w/.-]+)`/gm)].map(([, file]) => file);
  expect(named).toHaveLength(EMITTED_NAMES.length + 1);
  const missing = [...new Set(named)].filter(
    (file) => !existsSync(path.join(import.meta.dirname, `${file}.db.test.ts`)),
  );
  expect(missing).toEqual([]);
});
