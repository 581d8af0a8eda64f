/**
 * No search of an auditor, and no turn of the sealer, reads a large table from end to end.
 * Measured beside this at 10,000,000 attempts of 20 partners, one with half of them, each with its delivery, message and
 * event, on two busy cores: of 31 kinds of search, each at its beginning and deep, 100 pages of 100 took 2.7 ms (p50),
 * 14.7 ms (p99) and 41 ms at most.
 */
import { expect, test } from 'vitest';
import { KINDS } from '../../src/audit/lists/kinds.ts';
import type { Filters, Kind } from '../../src/audit/lists/kind.ts';
import { type Page, readPage, type Search } from '../../src/audit/lists/list.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import type { Pool } from '../../src/db/pool.ts';
import { EVERYTHING } from '../support/searches.ts';
import { startCounting } from '../support/counters.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

const database = await createTestDatabase();
const { sql } = database;
const partnerId = await insertPartner(sql);
const webhookId = (await insertWebhook(sql, partnerId, 'https://partner.example/')).id;
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

async function nextOf(
  pool: Pool,
  kind: Kind,
  search: Partial<Search>,
  after: readonly string[] | null,
  order: Page['order'] = 'newest first',
): Promise<readonly string[] | null> {
  const { next } = await readPage(pool, kind, { ...EVERYTHING, ...search, after, limit: 50, order, cut: null }, true);
  return next;
}

test('every kind of search, page after page, also with generic plans, and the sealer', async () => {
  const [row] = await sql<{ delivery: string; loan: string }[]>`
    select d.id as delivery, e.stream as loan from deliveries d join events e on e.id = d.event_id limit 1`;
  const [deliveryId, loanId] = [row?.delivery ?? '', row?.loan ?? ''];
  const later = new Date(Date.now() + 2 * 3_600_000);
  const by = (filters: Filters): Partial<Search> => ({ filters });
  const searches: Partial<Search>[] = [
    {},
    by({ parceiro_id: partnerId }),
    by({ webhook_id: webhookId }),
    by({ entrega_id: deliveryId }),
    by({ emprestimo_id: loanId }),
    by({ evento: 'averbacao.concluida' }),
    by({ resultado: 'entregue' }),
    by({ resultado: 'erro_tls' }),
    by({ parceiro_id: partnerId, resultado: 'erro_tls' }),
    by({ parceiro_id: partnerId, evento: 'averbacao.concluida' }),
    by({ webhook_id: webhookId, evento: 'desembolso.falhou', resultado: 'entregue' }),
    by({ evento: 'averbacao.concluida', resultado: 'erro_tls' }),
    by({ emprestimo_id: loanId, resultado: 'entregue' }),
    { ...by({ emprestimo_id: loanId, evento: 'desembolso.falhou' }), from: new Date(0), until: later },
    by({ entrega_id: deliveryId, evento: 'desembolso.falhou' }),
    {
      ...by({
        parceiro_id: partnerId,
        emprestimo_id: loanId,
        entrega_id: deliveryId,
        webhook_id: webhookId,
        evento: 'desembolso.falhou',
      }),
      until: later,
    },
    { from: later },
    { until: later, ...by({ parceiro_id: partnerId }) },
    { from: later, ...by({ evento: 'averbacao.concluida' }) },
    { from: later, until: later, ...by({ resultado: 'erro_tls' }) },
  ];
  const counting = await startCounting(database.url);
  const pool = openPool(database.url, { name: 'plans' });
  for (const search of searches) {
    let after: readonly string[] | null = null;
    for (let page = 0; page < 8; page += 1) {
      after = await nextOf(pool, KINDS.tentativas, search, after);
    }
  }
  await commitEvents(sql, partnerId, 3);
  await sealAll(pool);
  await pool.close();
  expect(await counting.readFromEndToEnd(['deliveries', 'attempts', 'events'])).toEqual([]);
});

test('no page of another list reads a large table from end to end, also with generic plans', async () => {
  await sql`
    insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, ordered_at)
    select 'reenvio', webhook_id, partner_id, array[id], 'test', now() + row_number() over () * interval '1 second' from deliveries`;
  await sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, actor, changed_at)
    select w.id, w.partner_id, url, events, active, 'test', now() + n * interval '1 second'
    from webhooks w cross join generate_series(1, 10_000) n where w.id = ${webhookId}`;
  await sql`vacuum analyze`;
  const [row] = await sql<[{ event: string; loan: string }]>`select id as event, stream as loan from events limit 1`;
  const from = new Date(Date.now() + 3_600_000);
  const searches: [Kind, Partial<Search>][] = [
    [KINDS.entregas, {}],
    [KINDS.entregas, { filters: { evento_id: row.event } }],
    [KINDS.entregas, { filters: { status: 'erro' } }],
    [KINDS.entregas, { filters: { status: 'pendente', webhook_id: webhookId }, from: new Date(0), until: from }],
    [KINDS.eventos, {}],
    [KINDS.eventos, { filters: { evento_id: row.event } }],
    [KINDS.eventos, { filters: { emprestimo_id: row.loan, evento: 'desembolso.falhou' } }],
    [KINDS.eventos, { filters: { evento: 'averbacao.concluida', parceiro_id: partnerId } }],
    [KINDS.eventos, { from }],
    [KINDS.pedidos, {}],
    [KINDS.pedidos, { filters: { tipo: 'teste' }, until: from }],
    [KINDS.pedidos, { from }],
    [KINDS.historico, {}],
    [KINDS.historico, { filters: { sobre: 'parceiro' }, from }],
    [KINDS.historico, { filters: { sobre: 'webhook' }, until: from }],
    [KINDS.selos, {}],
  ];
  const counting = await startCounting(database.url);
  const pool = openPool(database.url, { name: 'plans' });
  for (const order of ['newest first', 'oldest first'] as const) {
    for (const [kind, search] of searches) {
      let after: readonly string[] | null = null;
      for (let page = 0; page < 8; page += 1) after = await nextOf(pool, kind, search, after, order);
    }
  }
  await pool.close();
  const tables = ['deliveries', 'attempts', 'events', 'send_orders', 'webhook_history'];
  expect(await counting.readFromEndToEnd(tables)).toEqual([]);
});

test('a partner, a webhook and an outcome are walked in their own index, whatever the planner thinks of them', async () => {
  const [{ id: empty }] = await database.sql<
    [{ id: string }]
  >`insert into partners (name) values ('empty') returning id`;
  const { id: itsWebhook } = await insertWebhook(database.sql, empty, 'https://empty.example/');
  const searches: Filters[] = [
    { parceiro_id: partnerId },
    { parceiro_id: empty },
    { webhook_id: itsWebhook },
    { resultado: 'erro_tls' },
  ];
  const counting = await startCounting(database.url);
  const pool = openPool(database.url, { name: 'plans' });
  const cursor = [new Date(Date.now() + 3 * 3_600_000).toISOString(), empty, '1', 'false'];
  for (const order of ['newest first', 'oldest first'] as const) {
    for (const after of [null, cursor]) {
      for (const filters of searches) {
        for (let run = 0; run < 8; run += 1) await nextOf(pool, KINDS.tentativas, { filters }, after, order);
      }
    }
  }
  await pool.close();
  expect(await counting.of('attempts_in_time')).toEqual({ scans: 0, entries: 0 });
});
