/** What the page reads goes by indexes and looks at a bounded number of rows, however many there are. */
import { expect, test } from 'vitest';
import { MAX_PENDING_SCANNED, STREAK_OF } from '../../../src/contract/resources/webhook-health.ts';
import { readLoanHistory } from '../../../src/core/loans/loan-history.ts';
import { COUNTED, readSummary } from '../../../src/delivery/partner/summary.ts';
import { readSent } from '../../../src/delivery/partner/read-sent.ts';
import { readWebhookHealth } from '../../../src/delivery/partner/webhook-health.ts';
import { readFeedEvent } from '../../../src/log/feed.ts';
import { findStart } from '../../../src/log/feed-start.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertPartner, insertSubscriber, insertWebhook, openTestSecret } from '../../support/outbox.ts';
import { rowsScanned, startCounting } from '../../support/counters.ts';

/** A session goes over to a generic plan after five runs of a statement. */
const TURNS = 7;

test('health, pulse, what waits, one delivery, one event and where a feed begins read no table from end to end', async () => {
  const { url, pool, sql } = await createTestDatabase();
  const partnerId = await insertPartner(sql);
  const webhookIds: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    webhookIds.push((await insertWebhook(sql, partnerId, 'https://partner.example/')).id);
  }
  await commitEvents(sql, partnerId, COUNTED + 200);
  await sql`
    insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
    select gen_random_uuid(), 1, 'desembolso.falhou', ${await insertPartner(sql)}, '{}', now(), 'test', 0,
           pg_current_snapshot()
    from generate_series(1, 10000)`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select id, 1, webhook_id, partner_id, 'erro_conexao', now(), 1, 'https://partner.example/', 'old' from deliveries`;
  await sql`analyze`;
  const [row] = await sql<[{ id: string; eventId: string; stream: string }]>`
    select d.id, d.event_id as "eventId", e.stream from deliveries d join events e on e.id = d.event_id limit 1`;
  const counting = await startCounting(url);
  for (let poll = 0; poll < TURNS; poll += 1) {
    const health = await readWebhookHealth(pool, partnerId, webhookIds);
    expect(health.map((one) => [one.falhas_seguidas, one.pendente_mais_antiga === null])).toEqual(
      webhookIds.map(() => [STREAK_OF, false]),
    );
    const { mostra_desde, falhas, espera } = await readSummary(pool, { partnerId, webhookId: null }, '15m');
    expect([mostra_desde, falhas]).toEqual([null, 10 * (COUNTED + 200)]);
    expect([espera.pendentes, espera.ha_mais]).toEqual([10 * COUNTED, true]);
    // No contract is in this stream, so it is no loan.
    expect(await readLoanHistory(pool, partnerId, row.stream, { from: 1, most: 100 })).toBeNull();
    expect((await readFeedEvent(pool, partnerId, row.eventId))?.deliveries).toHaveLength(10);
    await findStart(pool, partnerId, new Date(Date.now() - 1_000 * poll), poll % 2 === 0);
    expect((await readSent(pool, openTestSecret, partnerId, row.id, [1]))?.attempts).toHaveLength(1);
  }
  await pool.close();
  expect(await counting.readFromEndToEnd(['deliveries', 'attempts', 'events'])).toEqual([]);
});

test('health looks at no more than 1,000 of a backlog that grew after the statistics were made', async () => {
  const { url, sql } = await createTestDatabase();
  const { partnerId, id } = await insertSubscriber(sql);
  const grow = (count: number) => sql`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select uuidv7(), ${id}, ${partnerId}, now() + random() * interval '1 hour' from generate_series(1, ${count}::int)`;
  await grow(900);
  await sql`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select uuidv7(), gen_random_uuid(), ${partnerId}, now() from generate_series(1, 20000)`;
  await sql`analyze deliveries`;
  await grow(20_000);
  // And the newest hundred of all, twice: for the failures in a row, and for the strange answers.
  const most = 1.1 * (MAX_PENDING_SCANNED + 2 * STREAK_OF);
  expect(await rowsScanned(url, (one) => readWebhookHealth(one, partnerId, [id]))).toBeLessThan(most);
});
