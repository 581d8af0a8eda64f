/** Whatever runs as a loop is in the list that the doctor shows, with its own period. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MAINTENANCE } from '../../../src/main/maintenance/list.ts';

const SRC = path.resolve(import.meta.dirname, '../../../src');

test('each file that runs a loop gives the list its period', () => {
  const loops = globSync('**/*.ts', { cwd: SRC }).filter((file) => {
    // What is tried until it works is no loop.
    const isNoLoop = ['db/outage-log.ts', 'main/service/settings-history.ts'].includes(file);
    return !isNoLoop && /\brunLoop\(/.test(readFileSync(path.join(SRC, file), 'utf8'));
  });
  expect(loops.length).toBeGreaterThan(5);
  const list = readFileSync(path.join(SRC, 'main/maintenance/list.ts'), 'utf8');
  const named = [...list.matchAll(/import \{ EVERY_MS as \w+[^}]*\} from '([^']+)'/g)];
  const periods = new Set(named.map(([, file = '']) => path.join('main/maintenance', file)));
  expect(loops.filter((file) => !periods.has(file))).toEqual([]);
});

test('each loop has a name of its own and a period', () => {
  expect(new Set(MAINTENANCE.map(({ name }) => name)).size).toBe(MAINTENANCE.length);
  expect(MAINTENANCE.filter(({ everyMs, roles }) => !(everyMs > 0) || roles.length === 0)).toEqual([]);
});
