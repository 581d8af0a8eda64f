/** What the database and the poller both count by is the same in both, and the same as the model that tests go by. */
import { expect, test } from 'vitest';
import { nextSlot, SLOTS } from '../../../src/contract/schedule.ts';
import { LEASE_S } from '../../../src/delivery/queue/lease.ts';
import { LEASE_MS } from '../../model/delivery-model.ts';
import { createTestDatabase } from '../../support/database.ts';

const database = await createTestDatabase();

test('the next slot is the contract’s after each failure, and there is none after the sixth', async () => {
  const endedAt = new Date('2026-02-28T23:59:59.999Z');
  const rows = await database.sql<{ at: Date | null }[]>`
    select next_slot(jsonb_populate_record(null::deliveries, jsonb_build_object('failures', before)), ${endedAt}) as at
    from generate_series(0, ${SLOTS}) as before order by before`;
  expect(rows.map(({ at }) => at?.getTime() ?? null)).toEqual(
    rows.map((_, before) => nextSlot(before + 1, endedAt.getTime())),
  );
  expect(rows.map(({ at }) => at === null)).toEqual([false, false, false, false, false, true, true]);
});

test('the lease is as long in the database as by the poller’s clock and in the model', async () => {
  const [row] = await database.sql<[{ seconds: number }]>`select extract(epoch from lease())::int as seconds`;
  expect([row.seconds, row.seconds * 1_000]).toEqual([LEASE_S, LEASE_MS]);
});

test('the database reads the poller out of a claim’s name', async () => {
  const claims = ['host-1-af/7', 'host-1-af/3.7', 'a/b.example-1-af/7', 'a/b.example-1-af/3.7'];
  const rows = await database.sql<object[]>`
    select poller_of(claim) as poller from unnest(${claims}::text[]) as claim`;
  expect(rows).toEqual([
    { poller: 'host-1-af' },
    { poller: 'host-1-af' },
    { poller: 'a/b.example-1-af' },
    { poller: 'a/b.example-1-af' },
  ]);
});

test('a claim reads each column of poll_lanes where the function puts it', async () => {
  const [row] = await database.sql<[{ names: string[] }]>`
    select array_agg(name order by ordinal) as names
    from pg_proc f, unnest(f.proargnames, f.proargmodes) with ordinality as argument (name, mode, ordinal)
    where proname = 'poll_lanes' and mode = 't'`;
  expect(row.names.join(' ')).toBe('id number webhook_id event body loan_version traceparent salt is_test due_at told');
});
