/** A life under each value of each setting that a role can have, a dozen of them at a time: a life takes a second, and there are hundreds. */
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { liveWith, type OddSetting, readOddSettings } from '../support/odd-settings.ts';

const { sql } = await createTestDatabase();
const ALL = await readOddSettings(sql);
const AT_ONCE = 12;

/** A start refuses these. */
const REFUSED = new Set([
  'synchronous_commit = local',
  'synchronous_commit = off',
  'default_transaction_read_only = on',
]);
const isRefused = ({ name, value }: OddSetting) => REFUSED.has(`${name} = ${value}`);
const refused = ALL.filter(isRefused);
const others = ALL.filter((one) => !isRefused(one));
/** Values of one setting are neighbours, and so are settings of one kind: each group has others. */
const groups = Math.ceil(others.length / AT_ONCE);
const GROUPS = Array.from({ length: groups }, (_, at) => others.filter((_one, index) => index % groups === at));

test('there are some 150 settings, most with several values', () => {
  expect(new Set(ALL.map(({ name }) => name)).size).toBeGreaterThan(140);
  expect(refused).toHaveLength(REFUSED.size);
  for (const group of GROUPS) expect(new Set(group.map(({ name }) => name)).size).toBe(group.length);
});

test.each(refused)('a start with $name = $value is refused', async (setting) => {
  expect(await liveWith([setting])).toMatch(/^refused: /);
});

test.each(GROUPS.map((group) => [group.map(({ name, value }) => `${name} = ${value}`).join(', '), group] as const))(
  '%s: lives',
  async (_, group) => {
    expect(await liveWith(group)).toBe('lives');
  },
);
