/** The gauge of how late the engine is, which must be true above all when no poller lives. */
import { expect, test } from 'vitest';
import { freeSlots, insertArrivals } from '../../../src/delivery/queue/arrivals.ts';
import { armLanes } from '../../support/arm-lanes.ts';
import { readOldestDueS } from '../../../src/delivery/queue/oldest-due.ts';
import { rowsLookedAt } from '../../support/counters.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';
import { takeTurn } from '../../support/turn.ts';

const { database, partnerId, webhookId } = await useOneWebhook();
const { pool, sql } = database;

const read = async () => Math.round(await readOldestDueS(database.sql));

/** As if all that was written had been written this long ago. */
async function wait(seconds: number): Promise<void> {
  await sql`update deliveries set next_attempt_at = next_attempt_at - ${seconds} * interval '1 second'`;
  await sql`update arrivals set due_at = due_at - ${seconds} * interval '1 second' where kind = 'due'`;
  await sql`update lanes set next_due_at = next_due_at - ${seconds} * interval '1 second'`;
}

test('is 0 when there is nothing to do', async () => {
  expect(await read()).toBe(0);
});

test('counts deliveries that no poller has ever looked at', async () => {
  await commitEvents(database.sql, partnerId, 50);
  await wait(132);
  expect(await read()).toBe(132);
});

test('counts them behind slots that came free, and beside a lane that is due much later', async () => {
  await commitEvents(sql, partnerId, 1);
  await sql`update deliveries set next_attempt_at = now() + interval '6 hours'`;
  await takeTurn(pool, 'p/1', 10, new Date(Date.now() + 5));
  for (let record = 0; record < 300; record += 1)
    await pool.transaction((tx) => freeSlots(tx, [{ webhookId, partnerId }]));
  expect(await read()).toBe(0);
  await commitEvents(sql, partnerId, 1);
  await sql`update deliveries set next_attempt_at = now() where attempts = 0 and next_attempt_at < now()`;
  await sql`update arrivals set due_at = now() - interval '70 seconds' where kind = 'due'`;
  expect(await read()).toBe(70);
});

test('counts what was made due by a resend, from when it was made due', async () => {
  await commitEvents(sql, partnerId, 2);
  await sql`delete from arrivals`;
  await pool.transaction((tx) => insertArrivals(tx, [webhookId]));
  await wait(40);
  expect(await read()).toBe(40);
});

test('is 0 for a wake row behind which nothing is due, and what waits for a slot is not late', async () => {
  await pool.transaction((tx) => insertArrivals(tx, [webhookId]));
  expect(await read()).toBe(0);
  await commitEvents(sql, partnerId, 20);
  await sql`update deliveries set next_attempt_at = now() - interval '1 hour'`;
  await takeTurn(pool, 'p/1', 100, new Date(Date.now() + 5));
  await pool.transaction((tx) => insertArrivals(tx, [webhookId]));
  expect(await read()).toBe(0);
});

test('counts a lane that is due, armed or at the end of a lease', async () => {
  await commitEvents(sql, partnerId, 1);
  await armLanes(sql, null);
  await wait(15);
  expect(await read()).toBe(15);
});

test('reads a part of the rows that wait, however many there are', async () => {
  await sql`
    insert into arrivals (webhook_id, partner_id, kind, due_at)
    select ${webhookId}, ${partnerId}, 'due', now() from generate_series(1, 100000)`;
  await sql`analyze arrivals`;
  expect(await rowsLookedAt(database.url, (pool) => pool.run(readOldestDueS))).toBeLessThan(2_000);
});
