/** Waiting for what is in flight: each look finds what claims hold, and does not read what waits behind it. */
import { expect, test } from 'vitest';
import { countInFlight, muteLane, wakeLane } from '../../src/delivery/queue/orders/lane.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { rowsScanned } from '../support/counters.ts';
import { pollLanes } from '../support/poll.ts';

/** What a lane that is new may have in flight. */
const CLAIMED = 8;

/** Two webhooks of one partner, each with 50,000 pending deliveries, and in flight what one claim takes of each. */
const database = await createTestDatabase();
const { sql } = database;
const partnerId = await insertPartner(sql);
const webhookIds: string[] = [];
for (const path of ['a', 'b']) {
  const { id } = await insertWebhook(sql, partnerId, `https://partner.example/${path}`);
  webhookIds.push(id);
  await sql`
      insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
      select uuidv7(), ${id}, ${partnerId}, now() + interval '1 day' + n * interval '1 second' from generate_series(1, 50000) n`;
}
await sql`
    insert into pending (due_at, webhook_id, delivery_id, event_id, partner_id)
    select next_attempt_at, webhook_id, id, event_id, partner_id from deliveries`;
await commitEvents(sql, partnerId, 100);
await pollLanes(database.pool, 'poller/1', 100, new Date());
await Promise.all(webhookIds.map((id) => muteLane(sql, id)));

test('of 100,000 pending deliveries it looks at no more than 300 rows, on tables never analysed', async () => {
  const [{ analysed }] = await sql<[{ analysed: number }]>`
    select count(*)::int as analysed from pg_class where relname in ('deliveries', 'lanes') and reltuples >= 0`;
  expect(analysed).toBe(0);
  expect(await countInFlight(sql, webhookIds)).toBe(2 * CLAIMED);
  const rows = await rowsScanned(database.url, (pool) => pool.run((tx) => countInFlight(tx, webhookIds)));
  if (process.env['TELL']) console.log(rows);
  expect(rows).toBeGreaterThanOrEqual(2 * CLAIMED);
  expect(rows).toBeLessThan(300);
});

test('counts what claims hold, over any claims, and nothing that is over or never was', async () => {
  const [first = '', second = ''] = webhookIds;
  expect(await countInFlight(sql, [first])).toBe(CLAIMED);
  expect(await countInFlight(sql, [])).toBe(0);
  await sql`update deliveries d set attempts = 1 from (select delivery_id from flights() where webhook_id = ${first} limit 3) f where d.id = f.delivery_id`;
  expect(await countInFlight(sql, webhookIds)).toBe(2 * CLAIMED - 3);
  await wakeLane(sql, second);
  await sql`update lanes set window_size = 20, max_in_flight = 20 where webhook_id = ${second}`;
  // This clock has milliseconds: in the one in which the lane was woken it would lie before that.
  const more = await pollLanes(database.pool, 'poller/2', 100, new Date(Date.now() + 1));
  expect(more).toHaveLength(20 - CLAIMED);
  await muteLane(sql, second);
  expect(await countInFlight(sql, [second])).toBe(20);
});
