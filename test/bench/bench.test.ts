/** The bench must not rot: one tiny figure, on a server and a receiver of its own. */
import { expect, test } from 'vitest';
import { holds } from './figure.ts';
import { outage } from './figures/outage.ts';
import { writers } from './figures/writers.ts';
import { measure } from './command.ts';
import { svg } from './harness/svg.ts';
import { table } from './harness/table.ts';

test('measures, judges, and prints a figure', async () => {
  const { measured } = await measure([writers, outage], { isQuick: true, seed: 1, rounds: 1 });

  const peak = measured.find(({ id }) => id === 'outage_peak');
  expect(peak?.value).toBeLessThanOrEqual(8);
  expect(peak && holds(peak)).toBe(true);
  expect(measured.every(({ value }) => Number.isFinite(value))).toBe(true);
  expect(table(measured, true)).toMatch(/after an outage.* 8\.00 POSTs +≤ 8\.00 +holds/);
  expect(svg([{ chart: 'latency', label: 'Carteiro, p50 < p99', value: 3 }])).toContain('p50 &lt; p99');
});
