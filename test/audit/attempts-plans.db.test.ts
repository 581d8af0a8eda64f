/**
 * No search of an auditor, and no turn of the sealer, reads a large table from end to end.
 * Measured beside this at 10,000,000 attempts of 20 partners, one with half of them, each with its delivery, message and
 * event, on two busy cores: of 31 kinds of search, each at its beginning and deep, 100 pages of 100 took 2.7 ms (p50),
 * 14.7 ms (p99) and 41 ms at most.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttemptFilters, readAttempts } from '../../src/audit/attempts.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { Pool } from '../../src/db/pool.ts';
import { NO_FILTERS } from '../support/searches.ts';
import { startCounting } from '../support/counters.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

let database: TestDatabase;
let partnerId: string;
let webhookId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  partnerId = await insertPartner(sql);
  webhookId = (await insertWebhook(sql, partnerId, 'https://partner.example/')).id;
  await commitEvents(sql, partnerId, 10_000);
  for (let number = 1; number <= 6; number += 1) {
    await sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, recorded_at)
      select id, ${number}, webhook_id, partner_id, 'entregue', 200, now(), 1, 'https://partner.example/', 'old',
             now() + ${number} * interval '1 hour' + row_number() over (order by id) * interval '100 ms'
      from deliveries`;
  }
  await untilSettled(sql);
  await sealAll(database.pool);
  await sql`vacuum analyze`;
});
afterAll(() => database.drop());

test('every kind of search, page after page, also with generic plans, and the sealer', async () => {
  const { sql } = database;
  const [row] = await sql<{ delivery: string; loan: string }[]>`
    select d.id as delivery, e.stream as loan from deliveries d join events e on e.id = d.event_id limit 1`;
  const [deliveryId, loanId] = [row?.delivery ?? '', row?.loan ?? ''];
  const later = new Date(Date.now() + 2 * 3_600_000);
  const searches: Partial<AttemptFilters>[] = [
    {},
    { partnerId },
    { webhookId },
    { deliveryId },
    { loanId },
    { event: 'averbacao.concluida' },
    { outcome: 'entregue' },
    { outcome: 'erro_tls' },
    { partnerId, outcome: 'erro_tls' },
    { partnerId, event: 'averbacao.concluida' },
    { webhookId, event: 'desembolso.falhou', outcome: 'entregue' },
    { event: 'averbacao.concluida', outcome: 'erro_tls' },
    { loanId, outcome: 'entregue' },
    { loanId, event: 'desembolso.falhou', from: new Date(0), until: later },
    { deliveryId, event: 'desembolso.falhou' },
    { partnerId, loanId, deliveryId, webhookId, event: 'desembolso.falhou', outcome: 'entregue', until: later },
    { from: later },
    { until: later, partnerId },
    { from: later, event: 'averbacao.concluida' },
    { from: later, until: later, outcome: 'erro_tls' },
  ];
  const counting = await startCounting(database.url);
  const pool = new Pool({ url: database.url, name: 'plans', max: 1, deadlineMs: 10_000 });
  for (const search of searches) {
    let after = null;
    for (let page = 0; page < 8; page += 1) {
      const asked = { ...NO_FILTERS, ...search, after, limit: 50, order: 'newest first', settledBelow: null } as const;
      ({ next: after } = await readAttempts(pool, asked));
    }
  }
  await commitEvents(sql, partnerId, 3);
  await sealAll(pool);
  await pool.close();
  expect(await counting.readFromEndToEnd(['deliveries', 'attempts', 'events'])).toEqual([]);
});

test('a partner, a webhook and an outcome are walked in their own index, whatever the planner thinks of them', async () => {
  const [{ id: empty }] = await database.sql<
    [{ id: string }]
  >`insert into partners (name) values ('empty') returning id`;
  const { id: itsWebhook } = await insertWebhook(database.sql, empty, 'https://empty.example/');
  const searches = [{ partnerId }, { partnerId: empty }, { webhookId: itsWebhook }, { outcome: 'erro_tls' }] as const;
  const counting = await startCounting(database.url);
  const pool = new Pool({ url: database.url, name: 'plans', max: 1, deadlineMs: 10_000 });
  const cursor = { recordedAt: new Date(Date.now() + 3 * 3_600_000), deliveryId: empty, number: 1, late: false };
  for (const order of ['newest first', 'oldest first'] as const) {
    for (const after of [null, cursor]) {
      for (const search of searches) {
        for (let run = 0; run < 8; run += 1) {
          await readAttempts(pool, { ...NO_FILTERS, ...search, after, limit: 50, order, settledBelow: null });
        }
      }
    }
  }
  await pool.close();
  expect(await counting.of('attempts_in_time')).toEqual({ scans: 0, entries: 0 });
});
