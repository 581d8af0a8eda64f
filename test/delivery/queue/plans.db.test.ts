import { expect, test } from 'vitest';
import { SESSION_SETTINGS } from '../../../src/delivery/poller/session.ts';
import { armLanes } from '../../support/arm-lanes.ts';
import { claimDue } from '../../support/claim-due.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { createTestDatabase, openPool } from '../../support/database.ts';
import { commitEvents, insertPartner, insertSubscriber, insertWebhook } from '../../support/outbox.ts';
import { startCounting } from '../../support/counters.ts';
import { takeTurn } from '../../support/turn.ts';

const TURNS = 8;

test.each([
  ['in no order', false],
  ['that keeps the order of loans', true],
])(
  'no claim and no record of a webhook %s reads a hot table from end to end, also with generic plans',
  async (_, inOrder) => {
    const { url, pool, sql } = await createTestDatabase();
    const { partnerId } = await insertSubscriber(sql);
    await sql`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select gen_random_uuid(), gen_random_uuid(), ${partnerId}, now() from generate_series(1, 20000)`;
    await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select id, 1, webhook_id, partner_id, 'erro_conexao', now(), 1, 'https://partner.example/', 'old' from deliveries`;
    await sql`
    insert into events (id, stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
    select event_id, event_id, 1, 'desembolso.falhou', partner_id, '{}', now(), 'test', 1, pg_current_snapshot()
    from deliveries`;
    await sql`
    insert into lanes (webhook_id, partner_id)
    select gen_random_uuid(), ${partnerId} from generate_series(1, 20000)`;
    await commitEvents(sql, partnerId, 40);
    await sql`
    select append_event(stream, 1, type, partner_id, data, 'test') from events where partner_id = ${partnerId} and fan_out = 1
      and id in (select event_id from deliveries where webhook_id in (select id from webhooks))`;
    await sql`update lanes set in_order = ${inOrder}`;
    await sql`analyze deliveries, events, attempts, lanes`;
    const counting = await startCounting(url);

    for (let turn = 0; turn < TURNS; turn += 1) {
      const now = new Date(Date.now() + 1_000 + turn * 46_000);
      const deliveries = await takeTurn(pool, `p/${turn}`, 4, now);
      expect(deliveries.length).toBeGreaterThan(0);
      // Those that come first are lost again and again, until a failure is booked.
      const reports = deliveries.slice(-2).map((delivery, index) => ({
        deliveryId: delivery.id,
        webhookId: delivery.webhookId,
        partnerId: delivery.partnerId,
        number: delivery.number,
        claim: index === 0 ? `p/${turn}` : 'lost/1',
        url: delivery.url,
        keyId: 'test',
        bodyDigest: '0'.repeat(64),
        startedAtMs: 0,
        startedByMs: now.getTime(),
        result: {
          outcome: 'entregue' as const,
          statusCode: 200,
          durationMs: 1,
          address: null,
          error: null,
          answer: null,
        },
      }));
      await record(pool, reports, () => 1, now);
    }
    await pool.close();
    expect(await counting.readFromEndToEnd()).toEqual([]);
  },
);

test('a claim that is full has looked at no lane but those that it serves', async () => {
  const { url, sql } = await createTestDatabase();
  const pool = openPool(url, { name: 'poller', settings: SESSION_SETTINGS });
  const partnerId = await insertPartner(sql);
  for (let count = 0; count < 20; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  await commitEvents(sql, partnerId, 10);
  await pool.run((tx) => armLanes(tx, null));
  const counting = await startCounting(url, pool);
  const { deliveries } = await pool.transaction((tx) => claimDue(tx, 'p/1', 16));
  expect(deliveries).toHaveLength(16);
  const served = new Set(deliveries.map(({ webhookId }) => webhookId)).size;
  expect(served).toBe(2);
  // At each twice: to find its due deliveries, and once they are taken.
  expect((await counting.of('webhooks')).entries).toBe(2 * served);
});

test('who waits for work reads no more of the lanes that are due later than the first', async () => {
  const { url, pool, sql } = await createTestDatabase();
  await sql`
    insert into lanes (webhook_id, partner_id, next_due_at)
    select uuidv7(), uuidv7(), now() + interval '1 hour' from generate_series(1, 20000)`;
  await sql`analyze lanes`;
  const counting = await startCounting(url);
  await pool.transaction(async (tx) => {
    await tx`set local enable_seqscan = off`;
    await tx`select wait_for_work(null, 0, 0)`;
  });
  await pool.close();
  expect(await counting.of('lanes_due')).toEqual({ entries: 1, scans: 2 });
});
