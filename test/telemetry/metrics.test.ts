import { expect, test } from 'vitest';
import { OUTCOMES } from '../../src/contract/statuses.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';

test('attempts are counted by outcome, and reading them changes nothing', async () => {
  const metrics = createMetrics();
  for (const outcome of ['entregue', 'tempo_esgotado', 'entregue'] as const) metrics.countAttempt(outcome, 20);
  const lines = async (): Promise<string[]> =>
    (await metrics.expose()).text.split('\n').filter((line) => line.startsWith('carteiro_delivery_attempts_total{'));
  const [first, second] = [await lines(), await lines()];
  // A counter that appears with its first count is never seen to rise.
  expect(first.filter((line) => line.endsWith(' 0'))).toHaveLength(OUTCOMES.length - 2);
  expect(first.filter((line) => !line.endsWith(' 0'))).toEqual([
    'carteiro_delivery_attempts_total{outcome="entregue"} 2',
    'carteiro_delivery_attempts_total{outcome="tempo_esgotado"} 1',
  ]);
  expect(second).toEqual(first);
});

const samples = async (metrics: Metrics, name: string): Promise<string[]> =>
  (await metrics.expose()).text.split('\n').filter((line) => line.startsWith(`${name} `));

test('what cannot be read is left out, and everything else is told', async () => {
  const metrics = createMetrics();
  let isAway = false;
  let takesWrites = true;
  const ask = async (): Promise<number> => {
    if (isAway) throw new Error('away');
    return 7;
  };
  metrics.watch('registry_breaker_open', ask);
  metrics.watch('in_flight', () => 3);
  let isFull = false;
  metrics.watchDatabase(
    () => ask().then(() => takesWrites),
    () => isFull,
  );
  for (const away of [false, true, false]) {
    isAway = away;
    expect(await samples(metrics, 'carteiro_registry_breaker_open')).toEqual(
      away ? [] : ['carteiro_registry_breaker_open 7'],
    );
    expect(await samples(metrics, 'carteiro_database_up')).toEqual([`carteiro_database_up ${away ? 0 : 1}`]);
    takesWrites = away;
    expect(await samples(metrics, 'carteiro_database_takes_writes')).toEqual(
      away ? [] : ['carteiro_database_takes_writes 0'],
    );
    isFull = away;
    expect(await samples(metrics, 'carteiro_database_takes_writes')).toEqual(['carteiro_database_takes_writes 0']);
    isFull = false;
    takesWrites = true;
    expect(await samples(metrics, 'carteiro_deliveries_in_flight')).toEqual(['carteiro_deliveries_in_flight 3']);
    expect(await samples(metrics, 'process_start_time_seconds')).toHaveLength(1);
  }
});

test('what is never answered is not waited for, nor asked for again while it is under way', async () => {
  const metrics = createMetrics(1);
  let asked = 0;
  metrics.watchDatabase(
    () => {
      asked += 1;
      return new Promise(() => undefined);
    },
    () => false,
  );
  expect(await samples(metrics, 'carteiro_database_up')).toEqual(['carteiro_database_up 0']);
  expect(await samples(metrics, 'carteiro_database_up')).toEqual(['carteiro_database_up 0']);
  expect(asked).toBe(1);
});

test('each outcome of an attempt is there from the start, as a count and as a duration', async () => {
  const { text } = await createMetrics().expose();
  for (const outcome of OUTCOMES) {
    expect(text).toContain(`carteiro_delivery_attempts_total{outcome="${outcome}"} 0\n`);
    expect(text).toContain(`carteiro_delivery_attempt_duration_seconds_count{outcome="${outcome}"} 0\n`);
  }
});

test('what ends in _total is a counter, and each without a label of its own is there from the start', async () => {
  const { text } = await createMetrics().expose();
  const types = [...text.matchAll(/^# TYPE (\w+_total) (\w+)$/gm)];
  expect(types.length).toBeGreaterThan(8);
  for (const [, name = '', type] of types) {
    expect([name, type]).toEqual([name, 'counter']);
    expect(text).toMatch(new RegExp(`^${name}(\\{.*\\})? \\S+$`, 'm'));
  }
});
