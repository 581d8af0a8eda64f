import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { Differential } from './differential.ts';

const SEED = 4_711;
const STEPS = 12_000;
const database = await createTestDatabase();

test('the SQL does what the model does, over 12,000 steps of single deliveries', async () => {
  const differential = new Differential(database.pool, database.sql, SEED);
  await differential.run(STEPS);
  expect(differential.steps).toBeGreaterThanOrEqual(STEPS);
  // It has seen every end.
  for (const status of ['entregue', 'erro', 'suspensa']) expect(differential.ends[status]).toBeGreaterThan(0);
});

test('and when every poller dies with what it holds, each delivery ends in erro', async () => {
  const differential = new Differential(database.pool, database.sql, SEED);
  await differential.loseAll();
  expect(Object.keys(differential.ends)).toEqual(['erro']);
});
