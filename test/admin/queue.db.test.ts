/** The queue's status among many webhooks: what it looks at are those that have something, however many there are. */
import { beforeAll, describe, expect, test } from 'vitest';
import { muteLane } from '../../src/delivery/queue/orders/lane.ts';
import { readBounded } from '../../src/admin/bounds.ts';
import { type QueueStatus, readQueue } from '../../src/admin/queue.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner, insertSubscriber } from '../support/outbox.ts';
import { rowsScanned } from '../support/counters.ts';
import { pollLanes } from '../support/poll.ts';

const status = (most = 100): Promise<QueueStatus> => readBounded(database.pool, (tx) => readQueue(tx, most));

/** A webhook of a partner of its own, with so many pending deliveries. */
async function makeBusy(count: number): Promise<string> {
  const { partnerId, id } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, count);
  return id;
}

/** 50,000 webhooks with nothing to do, and five that have something. */
const database = await createTestDatabase();
const { sql } = database;
const partnerId = await insertPartner(sql);
await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select uuidv7(), ${partnerId}, 'https://quiet.example/', '{desembolso.falhou}', 'secret' from generate_series(1, 50000)`;
const claimed = await makeBusy(3);
const muted = await makeBusy(20);
const failing = await makeBusy(1);
// One claim, so that there is something in flight of a muted webhook too.
await pollLanes(database.pool, 'poller-a/1', 100, new Date(Date.now() + 1_000));
await muteLane(sql, muted);
await sql`update lanes set failing_since = now() where webhook_id = ${failing}`;
const large = await makeBusy(1);
await sql`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select uuidv7(), id, partner_id, now() + n * interval '1 second' from webhooks, generate_series(1, 30000) n
    where id = ${large}`;
await sql`
    insert into pending (due_at, webhook_id, delivery_id, event_id, partner_id)
    select next_attempt_at, webhook_id, id, event_id, partner_id from deliveries where webhook_id = ${large} and next_attempt_at > now()`;
const unarmed = await makeBusy(2);

describe.each(['never analysed', 'analysed'])('among 50,000 quiet webhooks, on tables %s', (statistics) => {
  beforeAll(async () => {
    if (statistics === 'analysed') await sql`analyze`;
  });

  test('it looks at no more than 11,000 rows: 10,000 deliveries of the one that has more, and few besides', async () => {
    const rows = await rowsScanned(database.url, (pool) => readBounded(pool, (tx) => readQueue(tx, 10)));
    if (process.env['TELL']) console.log(statistics, rows);
    expect(rows).toBeGreaterThan(10_000);
    expect(rows).toBeLessThan(11_000);
  });
});

test('it finds what is due, in flight, muted, falhando, and not armed yet', async () => {
  const found = await status();
  expect(found).toMatchObject({ pending: 10_026, isExact: false, inFlight: 12, muted: 1, falhando: 1 });
  const lines = new Map(found.lanes.map((line) => [line.webhook, line]));
  expect(lines.get(claimed)).toMatchObject({ state: 'active', pending: 3, inFlight: 3, dueForS: 0 });
  expect(lines.get(muted)).toMatchObject({ state: 'muted', pending: 20, inFlight: 8 });
  expect(lines.get(failing)).toMatchObject({ state: 'falhando', pending: 1, inFlight: 1 });
  expect(lines.get(unarmed)).toMatchObject({ pending: 2, inFlight: 0 });
  expect(lines.get(large)).toMatchObject({ pending: 10_000 });
  expect(lines.size).toBe(5);
  expect(found.pollers).toMatchObject([{ poller: 'poller-a', inFlight: 12 }]);
});

test('where 6,000 lanes have something it counts a part of them, a little of each, and says so', async () => {
  await sql`
    with idle as (
      select webhook_id, partner_id from lanes l
      where muted_at is null and not exists (select from pending p where p.webhook_id = l.webhook_id)
      order by webhook_id limit 6000
    ),
    made as (
      insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
      select uuidv7(), webhook_id, partner_id, now() from idle, generate_series(1, 20)
      returning *
    )
    insert into pending (webhook_id, delivery_id, event_id, partner_id) select webhook_id, id, event_id, partner_id from made`;
  const rows = await rowsScanned(database.url, (pool) => readBounded(pool, (tx) => readQueue(tx, 10)));
  if (process.env['TELL']) console.log(rows);
  expect(rows).toBeLessThan(250_000);
  const found = await status();
  expect(found.isExact).toBe(false);
  expect(found.lanes).toHaveLength(100);
  expect(found.pending).toBeGreaterThan(50_000);
  expect(found.pending).toBeLessThanOrEqual(100_000);
});
