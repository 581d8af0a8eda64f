/** A partner's lists of deliveries go by their indexes, over one webhook and over many, also with generic plans. */
import { expect, test } from 'vitest';
import { type DeliverySearch, readDeliveries } from '../../../src/delivery/partner/read-deliveries.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertPartner, insertWebhook } from '../../support/outbox.ts';
import { startCounting } from '../../support/counters.ts';
import { ALL_DELIVERIES } from '../../support/searches.ts';

/** A session goes over to a generic plan after five runs of a statement. */
const TURNS = 7;

test('every search of one webhook and of thirty reads no table from end to end', async () => {
  const { url, pool, sql } = await createTestDatabase();
  const partnerId = await insertPartner(sql);
  const webhookIds: string[] = [];
  for (let count = 0; count < 30; count += 1) {
    webhookIds.push((await insertWebhook(sql, partnerId, 'https://partner.example/')).id);
  }
  await commitEvents(sql, partnerId, 300);
  const stranger = await insertPartner(sql);
  await sql`
    insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
    select gen_random_uuid(), 1, 'desembolso.falhou', ${stranger}, '{}', now(), 'test', 0, pg_current_snapshot()
    from generate_series(1, 10000)`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select id, 1, webhook_id, partner_id, 'erro_conexao', now(), 1, 'https://partner.example/', 'old' from deliveries`;
  await sql`analyze`;
  const [event] = await sql<
    [{ loanId: string }]
  >`select stream as "loanId" from events where partner_id = ${partnerId} limit 1`;
  const counting = await startCounting(url);

  const all: DeliverySearch = {
    partnerId,
    webhookIds,
    ...ALL_DELIVERIES,
    limit: 20,
  };
  for (let poll = 0; poll < TURNS; poll += 1) {
    for (const list of [all, { ...all, webhookIds: webhookIds.slice(0, 1) }]) {
      const { deliveries, next } = await readDeliveries(pool, list);
      expect(deliveries).toHaveLength(20);
      await readDeliveries(pool, { ...list, after: next });
      await readDeliveries(pool, { ...list, status: 'erro' });
      await readDeliveries(pool, { ...list, status: 'suspensa', outcome: 'erro_conexao' });
      await readDeliveries(pool, { ...list, outcome: 'erro_conexao', event: 'desembolso.falhou' });
      await readDeliveries(pool, { ...list, statusCode: 503, from: new Date(0), until: new Date() });
      await readDeliveries(pool, { ...list, loanId: event.loanId });
    }
  }
  await pool.close();
  expect(await counting.readFromEndToEnd(['deliveries', 'attempts', 'events'])).toEqual([]);
});
