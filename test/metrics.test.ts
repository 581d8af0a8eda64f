import { expect, test } from 'vitest';
import { createMetrics } from '../src/metrics.ts';

test('attempts are counted by outcome, and reading them changes nothing', async () => {
  const metrics = createMetrics();
  for (const outcome of ['entregue', 'tempo_esgotado', 'entregue'] as const) metrics.countAttempt(outcome);
  const lines = async (): Promise<string[]> =>
    (await metrics.expose()).text.split('\n').filter((line) => line.startsWith('carteiro_delivery_attempts_total{'));
  const [first, second] = [await lines(), await lines()];
  expect(first).toEqual([
    'carteiro_delivery_attempts_total{outcome="entregue"} 2',
    'carteiro_delivery_attempts_total{outcome="tempo_esgotado"} 1',
  ]);
  expect(second).toEqual(first);
});
