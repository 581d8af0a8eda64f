import { describe, expect, test } from 'vitest';
import { type Effect, type Life, type Step, take } from './delivery-model.ts';
import { walk } from './walk.ts';

const SEED = 18_112_026;

describe('the model of a delivery’s life', () => {
  test('keeps every invariant over a million steps that it takes, in three million of time and chance', () => {
    let taken = 0;
    const { broken, steps, ends } = walk(SEED, 3_000_000, (life, step) => {
      taken += 1;
      return take(life, step);
    });
    expect(broken).toBeNull();
    expect(steps).toBe(3_000_000);
    expect(taken).toBeGreaterThan(1_000_000);
    for (const status of ['entregue', 'erro', 'suspensa']) expect(ends[status]).toBeGreaterThan(100);
  });

  type Change = (effect: Effect, life: Life, step: Step) => Effect;
  const broken: readonly (readonly [name: string, rule: string, change: Change])[] = [
    [
      'a lease shorter than the deadline',
      'lease',
      (effect, life, step) =>
        step.kind === 'end' && life.claimedAt !== null
          ? take({ ...life, claimedAt: life.claimedAt - 25_000 }, step)
          : effect,
    ],
    [
      'a seventh attempt',
      'six',
      (effect) =>
        effect.life.status === 'erro' ? { ...effect, life: { ...effect.life, status: 'pendente', dueAt: 0 } } : effect,
    ],
    [
      'a late 2xx dropped',
      '2xx wins',
      (effect, life) =>
        effect.standing === 'late' ? { ...effect, life: { ...life, rows: effect.life.rows } } : effect,
    ],
    [
      'no row for a lost attempt',
      'row',
      (effect, life, step) => (step.kind === 'end' ? { ...effect, life: { ...effect.life, rows: life.rows } } : effect),
    ],
    [
      'a stale failure that counts',
      'failures are those of the rows',
      (effect, life) =>
        effect.standing === 'late' ? { ...effect, life: { ...effect.life, failures: life.failures + 1 } } : effect,
    ],
    [
      'a schedule off by one',
      'schedule is exact',
      (effect, life) =>
        effect.life.failures > life.failures && effect.life.dueAt !== null
          ? { ...effect, life: { ...effect.life, dueAt: effect.life.dueAt * 2 } }
          : effect,
    ],
  ];
  test.each(broken)('sees %s', (_name, rule, change) => {
    const result = walk(SEED, 200_000, (life, step) => change(take(life, step), life, step));
    expect(result.broken?.rule).toContain(rule);
  });
});
