/** `pending` and `claims` are made small while a snapshot held open keeps all that is over in them (renew.sql). */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Tx } from '../../../src/db/pool.ts';
import { Poller } from '../../../src/delivery/poller/poller.ts';
import { SESSION_SETTINGS } from '../../../src/delivery/poller/session.ts';
import { openPool } from '../../support/database.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertWebhook, openTestSecret } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';
import { claimDue } from '../../support/poll.ts';

const { database, pool, sql, partnerId } = await useOneWebhook();
const PAGES = 256;

async function hold(statement: (tx: Tx) => Promise<unknown>): Promise<() => Promise<void>> {
  const { promise: isOver, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: report } = Promise.withResolvers<void>();
  const holding = sql.begin('isolation level repeatable read', async (tx) => {
    await statement(tx as never);
    report();
    await isOver;
  });
  await isHeld;
  const end = async () => {
    letGo();
    await holding;
  };
  onTestFinished(end);
  return end;
}

/** Rows that are over, as many as `PAGES` pages hold. */
async function fill(): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      insert into pending (tx, webhook_id, delivery_id, event_id, partner_id)
      select null, gen_random_uuid(), uuidv7(), uuidv7(), uuidv7() from generate_series(1, ${PAGES * 80}::int)`;
    await tx`delete from pending where tx is null and due_at = '-infinity'`;
    await tx`
      insert into claims (poller, number, done_below, at, ids, numbers)
      select 'over', n, n, now(), '{}', '{}' from generate_series(1, ${PAGES * 100}::int) n`;
    await tx`delete from claims where poller = 'over'`;
  });
}

const renew = async (queue: string) => {
  const [row] = await pool.run((tx) => tx<[{ done: boolean }]>`select renew(${queue}) as done`);
  return row.done;
};
const pagesOf = async (table: string) => {
  const [row] = await sql<[{ pages: number }]>`select (pg_relation_size(${table}) / 8192)::int as pages`;
  return row.pages;
};

test('it puts back what lives as it was, and a small table is left alone', async () => {
  await hold((tx) => tx`select from deliveries`);
  await commitEvents(sql, partnerId, 20);
  await pool.transaction((tx) => claimDue(tx, 'p/1', 5, new Date(Date.now() + 1_000)));
  await sql`update deliveries set next_attempt_at = now() + interval '1 hour' where id = (select delivery_id from pending limit 1)`;
  const all = () =>
    Promise.all([
      sql`select * from pending order by delivery_id`,
      sql`select * from claims`,
      sql`select * from flights()`,
    ]);
  const before = await all();
  expect(await renew('pending')).toBe(false);
  await fill();
  for (const queue of ['pending', 'claims']) {
    expect(await pagesOf(queue)).toBeGreaterThanOrEqual(PAGES);
    expect(await renew(queue)).toBe(true);
    expect(await pagesOf(queue)).toBe(1);
  }
  expect(await all()).toEqual(before);
  await expect(renew('events')).rejects.toThrow('events is no table that is renewed');
});

test('whoever reads the table for long keeps it, and holds up nobody else for long', async () => {
  const letGo = await hold((tx) => tx`select from pending`);
  await fill();
  const startedMs = performance.now();
  expect(await renew('pending')).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  await letGo();
  expect(await renew('pending')).toBe(true);
});

test('whoever makes the table small at the same moment is not waited for', async () => {
  const letGo = await hold((tx) => tx`lock table pending in access exclusive mode`);
  expect(await renew('pending')).toBe(false);
  await letGo();
});

test('beside two pollers at work each delivery is sent once', async () => {
  await hold((tx) => tx`select from deliveries`);
  for (let count = 0; count < 20; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  let sent = 0;
  const pollers = ['p', 'q'].map((name) => {
    const session = openPool(database.url, { name, settings: SESSION_SETTINGS });
    const send = async () => {
      sent += 1;
      await sleep(sent % 7);
      return sent % 10 === 0 ? ({ ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 } as const) : DELIVERED;
    };
    const deps = { pool: session, name, capacity: 64, openSecret: openTestSecret, log: silentLog, sender: { send } };
    const poller = new Poller({ ...deps, monotonicMs: () => performance.now() });
    return { poller, session, running: poller.run() };
  });
  let renewed = 0;
  for (let round = 0; round < 12; round += 1) {
    await fill();
    const appended = (async () => {
      for (let n = 0; n < 10; n += 1) await commitEvents(sql, partnerId, 2);
    })();
    for (const queue of ['pending', 'claims', 'pending', 'claims']) renewed += Number(await renew(queue));
    await appended;
  }
  const deliveries = 12 * 10 * 2 * 21;
  await expect.poll(() => sent, { timeout: 60_000 }).toBeGreaterThanOrEqual(deliveries);
  for (const { poller, session, running } of pollers) {
    await poller.drain();
    await running;
    await session.close();
  }
  expect({ sent, renewed: renewed > 5 }).toEqual({ sent: deliveries, renewed: true });
  const [row] = await sql`
    select (select count(*) from attempts where outcome <> 'desconhecido' and not late)::int as attempts,
           (select count(*) from deliveries where status = 'pendente')::int - (select count(*) from pending)::int as missing`;
  expect(row).toEqual({ attempts: deliveries, missing: 0 });
}, 120_000);

test('a copy that lacks rows of pending gets them when its server is adopted', async () => {
  await commitEvents(sql, partnerId, 3);
  const [one] = await sql`
    update deliveries set next_attempt_at = now() + interval '1 hour' where id = (select delivery_id from pending limit 1) returning id`;
  const all = () =>
    sql`select webhook_id, due_at, delivery_id, event_id, partner_id, number, is_test from pending order by delivery_id`;
  const before = await all();
  await sql`delete from pending where delivery_id in (select delivery_id from pending where delivery_id <> ${one?.['id']} limit 1) or delivery_id = ${one?.['id']}`;
  await sql`update installation set system_identifier = system_identifier + 1`;
  await sql`select adopt_server()`;
  expect(await all()).toEqual(before);
});
