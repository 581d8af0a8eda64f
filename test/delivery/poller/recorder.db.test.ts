import { expect, test } from 'vitest';
import { Pool } from '../../../src/db/pool.ts';
import type { ClaimedDelivery } from '../../../src/delivery/queue/claim.ts';
import { setCap } from '../../../src/delivery/queue/orders/lane.ts';
import { Recorder } from '../../../src/delivery/poller/recorder.ts';
import { SESSION_SETTINGS } from '../../../src/delivery/poller/session.ts';
import { createTestDatabase, openPool } from '../../support/database.ts';
import { Consent } from '../../../src/delivery/queue/consent.ts';
import { FailingRuns } from '../../../src/delivery/queue/maintenance/failing-runs.ts';
import { DELIVERED, reportFor } from '../../support/delivered.ts';
import { commitEvents, insertSubscriber } from '../../support/outbox.ts';
import { startHeldPoller } from '../../support/held-poller.ts';
import { silentLog } from '../../support/silent-log.ts';
import { pollLanes } from '../../support/poll.ts';

const COUNT = 12;

const database = await createTestDatabase();
const { sql } = database;
// The server cancels what waits for half a second.
const pool = openPool(database.url, { max: 3, deadlineMs: 1_500, settings: SESSION_SETTINGS });

const reportOf = (delivery: ClaimedDelivery, claim: string) => ({
  ...reportFor(delivery, claim, DELIVERED),
  startedAtMs: performance.now(),
  startedByMs: Date.now(),
});

async function countAttempts(): Promise<number> {
  const [row] = await database.sql<[{ count: number }]>`select count(*)::int as count from attempts`;
  return row.count;
}

test('a delivery that a stranger holds locked keeps only its own report waiting', async () => {
  const { partnerId, id } = await insertSubscriber(sql);
  await setCap(sql, id, COUNT);
  await sql`update lanes set window_size = ${COUNT}`;
  await commitEvents(sql, partnerId, COUNT);
  const deliveries = await pollLanes(database.pool, 'one/1', COUNT, new Date(Date.now() + 1_000));
  expect(deliveries).toHaveLength(COUNT);
  let recorded = 0;
  const recorder = new Recorder({
    pool,
    log: silentLog,
    monotonicMs: () => performance.now(),
    now: () => null,
    runs: new FailingRuns('one'),
    consent: new Consent(),
    onRecorded: (reports) => (recorded += reports.length),
  });
  const stranger = await sql.reserve();
  await stranger`begin`;
  await stranger`select from deliveries where id = ${deliveries[3]?.id ?? ''} for share`;

  for (const delivery of deliveries) recorder.add(reportOf(delivery, 'one/1'));
  await expect.poll(() => recorded).toBe(COUNT - 1);
  expect(await countAttempts()).toBe(COUNT - 1);

  await stranger`commit`;
  stranger.release();
  await recorder.settled();
  expect(recorded).toBe(COUNT);
  expect(await countAttempts()).toBe(COUNT);
  const left = await sql`select from deliveries where status <> 'entregue'`;
  expect(left).toHaveLength(0);
});

test('a webhook that a stranger holds locked keeps no record waiting for what it teaches', async () => {
  const { partnerId, id } = await insertSubscriber(sql, 'https://unasked.example/');
  await commitEvents(sql, partnerId, 1);
  const deliveries = await pollLanes(database.pool, 'held/1', 1, new Date(Date.now() + 1_000));
  const patient = new Pool({
    url: database.url,
    name: 'recorder',
    max: 3,
    deadlineMs: 20_000,
    settings: SESSION_SETTINGS,
  });
  const [consent, runs] = [new Consent(), new FailingRuns('held')];
  consent.learn(id, true);
  runs.learn(id);
  let recorded = 0;
  const recorder = new Recorder({
    pool: patient,
    log: silentLog,
    monotonicMs: () => performance.now(),
    now: () => null,
    runs,
    consent,
    onRecorded: (reports) => (recorded += reports.length),
  });
  const stranger = await sql.reserve();
  await stranger`begin`;
  await stranger`select from webhooks where id = ${id} for share`;
  for (const delivery of deliveries) recorder.add(reportOf(delivery, 'held/1'));
  await expect.poll(() => recorded, { timeout: 5_000 }).toBe(1);
  await stranger`commit`;
  stranger.release();
  await recorder.settled();
  await patient.close();
});

test('a report that a webhook waits for takes along those that nobody waits for', async () => {
  const { partnerId, id } = await insertSubscriber(sql, 'https://other.example/');
  await sql`update lanes set window_size = 3, max_in_flight = 3 where webhook_id = ${id}`;
  await commitEvents(sql, partnerId, 3);
  const deliveries = await pollLanes(database.pool, 'two/1', 3, new Date(Date.now() + 1_000));
  const flushes: number[] = [];
  const recorder = new Recorder({
    pool,
    log: silentLog,
    monotonicMs: () => performance.now(),
    now: () => null,
    runs: new FailingRuns('one'),
    consent: new Consent(),
    metrics: { countRecord: (standings) => flushes.push(standings.length) },
    onRecorded: () => undefined,
  });
  for (const [index, delivery] of deliveries.entries()) recorder.add(reportOf(delivery, 'two/1'), index === 2);
  await expect.poll(() => flushes).toEqual([3]);
  await recorder.settled();
});

test('a report that the database refuses leaves the row of an attempt that was lost, and no other report waits for it', async () => {
  const { partnerId } = await insertSubscriber(sql, 'https://refused.example/');
  await commitEvents(sql, partnerId, 2);
  const poller = startHeldPoller(database.pool, 'three', 8, Date.now() + 60_000);
  expect(await poller.tick()).toBe(2);
  // An answer that no text can hold.
  await poller.end({ ...DELIVERED, answer: 'a\0b' }, '', 1);
  await poller.end(DELIVERED);
  const readRows = () => sql`
    select number, outcome from attempts where partner_id = ${partnerId} order by number, outcome`;
  const rows = [
    { number: 1, outcome: 'desconhecido' },
    { number: 1, outcome: 'entregue' },
  ];
  expect(await readRows()).toEqual(rows);
  await poller.fill(1);
  await poller.end(DELIVERED);
  expect(await readRows()).toEqual([...rows, { number: 2, outcome: 'entregue' }]);
});
