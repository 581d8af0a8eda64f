/** The bench must not rot: one tiny figure, on a server and a receiver of its own. */
import { expect, test } from 'vitest';
import { writers } from './figures/writers.ts';
import { measure } from './command.ts';
import { holds } from './figure.ts';
import { tableOf } from './harness/table.ts';

test('measures, judges, and prints a figure', async () => {
  const measured = await measure([writers], { isQuick: true, seed: 1, rounds: 1 });

  const share = measured.find(({ id }) => id === 'writers_share');
  expect(measured.every(({ value }) => Number.isFinite(value))).toBe(true);
  expect(tableOf(measured, true)).toMatch(/against without.* % +≥ 60\.00 +(holds|DOES NOT HOLD)/);
  expect(share && holds({ ...share, value: 60 })).toBe(true);
});
