import { expect, test } from 'vitest';
import { runChaos } from './run.ts';

const SEED = 20_260_131;

test.each([
  ['', false],
  [' with leases alone', true],
])(
  'pollers killed and frozen, PostgreSQL stopped, connections cut and silent%s: nothing lost, stuck or sent too often',
  async (_name, leaseAlone) => {
    const { faults, orphans, figures, exitCodes } = await runChaos({
      seed: SEED,
      deliveries: 4_000,
      counts: { kill: 8, stop: 2, freeze: 2, cut: 4, 'black-hole': 2, pair: 1 },
      spanMs: 15_000,
      patienceMs: 120_000,
      haste: true,
      leaseAlone,
      say: () => undefined,
    });
    expect(orphans).toEqual([]);
    expect(Object.entries(faults).filter(([, count]) => count > 0)).toEqual([]);
    expect(exitCodes).toEqual([0, 0, 0]);
    expect(figures).toMatchObject({ kills: 10, stops: 2, freezes: 2 });
    expect(figures['deliveries']).toBeGreaterThanOrEqual(4_000);
    expect(figures['renewals']).toBeGreaterThan(0);
    expect(figures['attempts lost']).toBeGreaterThan(0);
  },
);
