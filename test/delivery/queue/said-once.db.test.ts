/** What the database and the poller both count by is the same in both, and the same as the model that tests go by. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RETRY_DELAYS_S } from '../../../src/contract/delivery.ts';
import { ORDINAL } from '../../../src/delivery/queue/claim.ts';
import { LEASE_S } from '../../../src/delivery/queue/lease.ts';
import { LEASE_MS, nextSlot } from '../../model/schedule.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('the next slot is the contract’s and the model’s after each failure, and there is none after the sixth', async () => {
  const endedAt = new Date('2026-02-28T23:59:59.999Z');
  const rows = await database.sql<{ failures: number; at: Date | null }[]>`
    select failures, next_slot(failures, ${endedAt}) as at from generate_series(1, 7) as failures order by failures`;
  for (const { failures, at } of rows) {
    const delayS = RETRY_DELAYS_S[failures - 1];
    expect(at?.getTime() ?? null).toBe(nextSlot(failures, endedAt.getTime()));
    expect(at?.getTime() ?? null).toBe(delayS === undefined ? null : endedAt.getTime() + delayS * 1_000);
  }
  expect(rows.map(({ at }) => at === null)).toEqual([false, false, false, false, false, true, true]);
});

test('the lease is as long in the database as by the poller’s clock and in the model', async () => {
  const [row] = await database.sql<[{ seconds: number }]>`select extract(epoch from lease())::int as seconds`;
  expect([row.seconds, row.seconds * 1_000]).toEqual([LEASE_S, LEASE_MS]);
});

test('a claim reads each column of claim_due where the function puts it', async () => {
  const [row] = await database.sql<[{ names: string[] }]>`
    select array_agg(name order by ordinal) as names
    from pg_proc f, unnest(f.proargnames, f.proargmodes) with ordinality as argument (name, mode, ordinal)
    where f.oid = 'claim_due'::regproc and mode = 't'`;
  const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  expect(row.names.map(camelCase)).toEqual(Object.keys(ORDINAL));
  expect(Object.values(ORDINAL)).toEqual(row.names.map((_, ordinal) => ordinal));
});
