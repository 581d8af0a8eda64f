/** What turns and records read: by key, whatever the statistics say, of a queue that was empty when it was analyzed as well. */
import { expect, test } from 'vitest';
import type { Pool } from '../../../src/db/pool.ts';
import { resendOne } from '../../../src/delivery/partner/resend.ts';
import { enter, readLanes } from '../../../src/delivery/queue/keepers.ts';
import { rescueOverdue, readFlying } from '../../../src/delivery/queue/rescuer.ts';
import { readOldestDueS } from '../../../src/delivery/queue/oldest-due.ts';
import { suspendUnclaimed } from '../../../src/delivery/queue/orders/suspend.ts';
import { endPoller } from '../../../src/delivery/queue/maintenance/dead-pollers.ts';
import { checkPage } from '../../../src/delivery/queue/maintenance/pending-page.ts';
import { Sweeper } from '../../../src/delivery/queue/maintenance/sweep.ts';
import { SESSION_SETTINGS } from '../../../src/delivery/poller/session.ts';
import { startCounting } from '../../support/counters.ts';
import { createTestDatabase, openPool } from '../../support/database.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { startHeldPoller } from '../../support/held-poller.ts';
import { commitEvents, insertPartner, insertSubscriber, insertWebhook } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';

const HOT = ['deliveries', 'pending', 'attempts', 'events', 'lanes'];
const ROUNDS = 12;
const EVENTS = 20;
const FAILED = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 } as const;

/** `count` deliveries of other webhooks, due much later, whose lanes another poller keeps, with what belongs to them. */
async function addOthers(sql: Parameters<typeof insertPartner>[0], count: number): Promise<void> {
  const other = await insertPartner(sql);
  await sql`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select uuidv7(), uuidv7(), ${other}, now() + interval '1 day' from generate_series(1, ${count}::int)`;
  await sql`
    insert into pending (due_at, webhook_id, delivery_id, event_id, partner_id)
    select next_attempt_at, webhook_id, id, event_id, partner_id from deliveries`;
  await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
    select id, 1, webhook_id, partner_id, 'erro_conexao', now(), 1, 'https://partner.example/', 'old' from deliveries`;
  await sql`
    insert into events (id, stream, version, type, partner_id, data, occurred_at, actor, fan_out, seen)
    select event_id, event_id, 1, 'desembolso.falhou', partner_id, '{}', now(), 'test', 1, pg_current_snapshot() from deliveries`;
  await sql`insert into lanes (webhook_id, partner_id, keeper) select webhook_id, partner_id, 'other' from deliveries`;
  await sql`insert into keepers (name, seen_at) values ('other', now() + interval '1 hour')`;
}

test.for([
  { queue: 'empty', others: 0, inOrder: false },
  { queue: 'empty', others: 0, inOrder: true },
  { queue: 'full', others: 20_000, inOrder: false },
  { queue: 'full', others: 20_000, inOrder: true },
])(
  'on a queue that was analyzed $queue no turn and no record reads more than its own (in order: $inOrder)',
  async ({ others, inOrder }) => {
    const { url, sql } = await createTestDatabase();
    const { partnerId } = await insertSubscriber(sql);
    if (others > 0) await addOthers(sql, others);
    await sql`update lanes set in_order = ${inOrder} where keeper is null`;
    await sql`analyze`;
    await sql`alter table pending set (autovacuum_enabled = false)`;
    await sql`alter table deliveries set (autovacuum_enabled = false)`;
    // A table without a page is read as a whole.
    await commitEvents(sql, await insertPartner(sql), 1);
    const counting = await startCounting(url);
    const pool = openPool(url, { name: 'poller', settings: SESSION_SETTINGS });
    const poller = startHeldPoller(pool, 'p', 64, Date.now() + 60_000);
    await poller.tick();
    let sent = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      await commitEvents(sql, partnerId, EVENTS);
      for (let left = 1; left > 0;) {
        left = await poller.tick(round);
        sent += left;
        await poller.end(FAILED, '', Math.floor(left / 4));
        await poller.end(DELIVERED);
      }
    }
    await pool.close();
    expect(sent).toBe(ROUNDS * EVENTS);
    expect(await counting.readFromEndToEnd(['deliveries', 'pending', 'attempts', 'events'])).toEqual([]);
    for (const table of ['deliveries', 'pending', 'lanes']) {
      const { entries } = await counting.of(table);
      // A table that is read as a whole in each flush has hundreds a delivery.
      expect({ table, each: entries / sent, isFew: entries / sent < 25 }).toMatchObject({ table, isFew: true });
    }
  },
);

/** What is done beside turns and records: the gauge of what is late, the sweep, a take-over, an order. */
async function everythingRare(pool: Pool, partnerId: string, webhookId: string): Promise<void> {
  await pool.run(readOldestDueS);
  await pool.transaction((tx) => checkPage(tx, null, 100));
  await pool.transaction((tx) => rescueOverdue(tx));
  await pool.transaction((tx) => suspendUnclaimed(tx, [webhookId]));
  const [{ id }] = await pool.run(
    (sql) =>
      sql<[{ id: string | null }]>`select min(id::text)::uuid as id from deliveries where webhook_id = ${webhookId}`,
  );
  if (id !== null) await pool.transaction((tx) => resendOne(tx, partnerId, id, { actor: 'test', requestId: null }));
  await pool.run((sql) => enter(sql, 'p', false));
  await pool.transaction((tx) => readLanes(tx, 'p', 1));
  await pool.run((sql) => readFlying(sql, [webhookId]));
  await pool.transaction((tx) => endPoller(tx, 'p', true));
}

test.each([false, true])(
  'a queue that was empty when it was analyzed, and has filled, is read by nobody as a whole (in order: %s)',
  async (inOrder) => {
    const { url, sql } = await createTestDatabase();
    const { partnerId, id } = await insertSubscriber(sql);
    await sql`update lanes set in_order = ${inOrder}`;
    await sql`analyze`;
    for (const table of HOT) await sql`alter table ${sql(table)} set (autovacuum_enabled = false)`;
    const pool = openPool(url, { name: 'poller', settings: SESSION_SETTINGS });
    // A session goes over to generic plans after five runs.
    for (let poll = 0; poll < 7; poll += 1) await everythingRare(pool, partnerId, id);
    await addOthers(sql, 20_000);
    await commitEvents(sql, partnerId, 200);
    const counting = await startCounting(url, pool);
    await everythingRare(pool, partnerId, id);
    expect(await counting.readFromEndToEnd(HOT)).toEqual([]);
    await pool.close();
  },
);

test('what flies is read past none of the claims that are over, though a snapshot held open keeps them all', async () => {
  const { url, sql } = await createTestDatabase();
  await sql`insert into keepers (name) values ('p'), ('q')`;
  await sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select from claims`;
    await sql`
      insert into claims (poller, number, done_below, at, ids, numbers)
      select name, n, n, now(), '{}', '{}' from keepers, generate_series(1, 5000) n`;
    await sql`delete from claims where number < 4990`;
    const counting = await startCounting(url);
    await sql`select from flights()`;
    expect(await counting.readFromEndToEnd(['claims'])).toEqual([]);
    expect((await counting.of('claims')).entries).toBeLessThan(20);
  });
});

test('the sweep reads no entry of what is over, though a snapshot held open keeps it all', async () => {
  const { url, sql } = await createTestDatabase();
  const pool = openPool(url, { name: 'poller', settings: SESSION_SETTINGS });
  await insertSubscriber(sql);
  await addOthers(sql, 5_000);
  await sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select from pending`;
    await sql`delete from pending`;
    await sql`update deliveries set status = 'erro', next_attempt_at = null, finished_at = now()`;
    let nowMs = 0;
    const sweeper = new Sweeper({ pool, log: silentLog, monotonicMs: () => nowMs, now: () => null });
    nowMs = 30_000;
    const counting = await startCounting(url, pool);
    await sweeper.sweepNowAndThen();
    expect((await counting.of('pending')).entries).toBe(0);
    expect(await counting.readFromEndToEnd(['claims'])).toEqual([]);
  });
  await pool.close();
});

test('a turn that is full has looked at no lane but those that it serves', async () => {
  const { url, sql } = await createTestDatabase();
  const pool = openPool(url, { name: 'poller', settings: SESSION_SETTINGS });
  const partnerId = await insertPartner(sql);
  for (let count = 0; count < 20; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  const poller = startHeldPoller(pool, 'p', 16, Date.now() + 60_000);
  await poller.tick();
  await commitEvents(sql, partnerId, 10);
  const counting = await startCounting(url);
  expect(await poller.tick()).toBeGreaterThan(0);
  await poller.tick();
  await pool.close();
  // What one partner alone may have of 16 slots.
  expect(poller.flying()).toBe(13);
  expect((await counting.of('webhooks')).entries).toBe(0);
});
