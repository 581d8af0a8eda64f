/** The gauge of how late the engine is, which must be true above all when no poller lives. */
import { expect, test } from 'vitest';
import { readOldestDueS } from '../../../src/delivery/queue/oldest-due.ts';
import { rowsScanned } from '../../support/counters.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';
import { pollLanes } from '../../support/poll.ts';

const { database, partnerId, webhookId } = await useOneWebhook();
const { pool, sql } = database;

const read = async () => Math.round(await readOldestDueS(sql));

/** It reads `seconds`, and what the machine took since `sinceMs`. */
async function isLate(seconds: number, sinceMs: number): Promise<boolean> {
  const late = await readOldestDueS(sql);
  return late >= seconds && late <= seconds + (Date.now() - sinceMs) / 1_000 + 1;
}

/** As if what is pending had been due since this long ago. */
async function wait(seconds: number): Promise<void> {
  await sql`update deliveries set next_attempt_at = next_attempt_at - ${seconds} * interval '1 second'`;
}

test('is 0 when there is nothing to do', async () => {
  expect(await read()).toBe(0);
});

test('counts deliveries that no poller has ever looked at', async () => {
  const startMs = Date.now();
  await commitEvents(sql, partnerId, 50);
  await wait(132);
  expect(await isLate(132, startMs)).toBe(true);
});

test('counts them beside one that is due much later', async () => {
  await commitEvents(sql, partnerId, 1);
  await sql`update deliveries set next_attempt_at = now() + interval '6 hours'`;
  expect(await read()).toBe(0);
  await commitEvents(sql, partnerId, 1);
  const startMs = Date.now();
  await sql`update deliveries set next_attempt_at = now() - interval '70 seconds' where next_attempt_at < now()`;
  expect(await isLate(70, startMs)).toBe(true);
});

test('is 0 for what is in flight, for what waits for a slot, and for a muted webhook', async () => {
  const startMs = Date.now();
  await commitEvents(sql, partnerId, 20);
  await wait(3_600);
  expect(await isLate(3_600, startMs)).toBe(true);
  await pollLanes(pool, 'p/1', 100, new Date(Date.now() + 5));
  expect(await read()).toBe(0);
  await sql`truncate claims`;
  expect(await isLate(3_600, startMs)).toBe(true);
  await sql`update lanes set muted_at = now()`;
  expect(await read()).toBe(0);
});

test('reads a part of the rows that wait, however many there are', async () => {
  await sql`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select uuidv7(), ${webhookId}, ${partnerId}, now() from generate_series(1, 50000)`;
  await sql`
    insert into pending (webhook_id, delivery_id, event_id, partner_id)
    select webhook_id, id, event_id, partner_id from deliveries`;
  await sql`analyze pending, deliveries`;
  expect(await rowsScanned(database.url, (one) => one.run(readOldestDueS))).toBeLessThan(2_000);
});
