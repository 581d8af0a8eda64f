/** A life under all settings that a role can have, many at once; test/db/every-setting.db.test.ts has each value, a dozen at a time. */
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { liveWith, type OddSetting, readOddSettings } from '../support/odd-settings.ts';

/** A start refuses these, or a role cannot have them. */
const ALONE =
  /^(synchronous_commit|default_transaction_read_only|transaction_.*|seed|is_superuser|event_source|session_authorization|role)$/;
/** As in the issue: each of them alone once broke something. */
const BROKE: readonly OddSetting[] = [
  { name: 'DateStyle', value: 'SQL, DMY' },
  { name: 'bytea_output', value: 'escape' },
  { name: 'standard_conforming_strings', value: 'off' },
  { name: 'quote_all_identifiers', value: 'on' },
];

test.each(BROKE)('a role with $name = $value lives', async (setting) => {
  expect(await liveWith([setting])).toBe('lives');
});

test('a role that has every setting otherwise than PostgreSQL has it lives', async () => {
  const database = await createTestDatabase();
  const first = new Map((await readOddSettings(database.sql)).toReversed().map((setting) => [setting.name, setting]));
  const settings = [...first.values()].filter(
    ({ name }) => !ALONE.test(name) && !/^(enable_|debug_|force_)/.test(name),
  );
  expect(settings.length).toBeGreaterThan(100);
  expect(await liveWith(settings)).toBe('lives');
});

test.each([
  [{ name: 'synchronous_commit', value: 'off' }, 'refused: synchronous_commit = off loses acknowledged commits: set it to on and start again'],
  [{ name: 'session_replication_role', value: 'replica' }, `refused: session_replication_role is replica: run "alter role <the login> set session_replication_role = 'origin'"`],
  [{ name: 'default_transaction_read_only', value: 'on' }, 'refused: read_only'],
])('a role with %o is refused by name', async (setting, verdict) => {
  expect(await liveWith([setting])).toBe(verdict);
}); // prettier-ignore
