/** A life under each setting that a role can have, one at a time, with each of its values. */
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { liveWith, readOddSettings } from '../support/odd-settings.ts';

const { sql } = await createTestDatabase();
const ALL = await readOddSettings(sql);

/** What does not live is told here, with why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'synchronous_commit = local': 'refused',
  'synchronous_commit = off': 'refused',
  'default_transaction_read_only = on': 'refused',
};

test('there are some 150 settings, most with several values', () => {
  expect(new Set(ALL.map(({ name }) => name)).size).toBeGreaterThan(140);
});

test.each(ALL)('$name = $value', async (setting) => {
  const verdict = await liveWith([setting]);
  if (verdict === 'impossible') return;
  expect(verdict.split(':')[0]).toBe(OTHERWISE[`${setting.name} = ${setting.value}`] ?? 'lives');
});
