/** What a lane that was taken over asks for while its earlier keeper's claims stand. */
import { expect, test } from 'vitest';
import type { Pool, Sql } from '../../../src/db/pool.ts';
import { pollLanes } from '../../../src/delivery/queue/claim.ts';
import { heartbeat, enter, handBack, readLanes } from '../../../src/delivery/queue/keepers.ts';
import { newLane } from '../../../src/delivery/queue/lanes/kept-lane.ts';
import { KeptLanes } from '../../../src/delivery/queue/lanes/kept-lanes.ts';
import { rescueOverdue } from '../../../src/delivery/queue/rescuer.ts';
import { endPoller } from '../../../src/delivery/queue/maintenance/dead-pollers.ts';
import { checkPage } from '../../../src/delivery/queue/maintenance/pending-page.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { Slots } from '../../../src/delivery/queue/slots.ts';
import { DELIVERED, reportFor } from '../../support/delivered.ts';
import { type HeldPoller, startHeldPoller } from '../../support/held-poller.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertWebhook } from '../../support/outbox.ts';
import { claimDue } from '../../support/poll.ts';

const HOUR_MS = 3_600_000;
const FAILED = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 } as const;

const { partnerId, webhookId, pool, sql } = await useOneWebhook();

/** Turns of a poller that takes the lanes; returns what the next one would read on. */
async function readOnAfter(polls: number, onePool: Pool, now: Date): Promise<number> {
  const lanes = new KeptLanes();
  await onePool.transaction(async (tx) => {
    lanes.seen = await enter(tx, 'b', false);
    for (const one of await readLanes(tx, 'b', 10)) lanes.keep(one);
  });
  const plan = () => lanes.plan(new Slots(64), now.getTime());
  for (let poll = 1; poll <= polls; poll += 1) {
    const ask = plan();
    const { rows, seen } = await onePool.transaction((tx) =>
      pollLanes(tx, { poller: 'b', number: poll, doneBelow: poll }, lanes.seen, ask, null, now),
    );
    expect(lanes.apply(ask, rows, now.getTime())).toEqual([]);
    lanes.seen = seen;
  }
  const { hooks, loans } = plan();
  return hooks.length + (loans?.asks.length ?? 0);
}

test.each([false, true])('a retry that flies is not asked for in each turn (in order: %s)', async (inOrder) => {
  await sql`update lanes set in_order = ${inOrder}`;
  await commitEvents(sql, partnerId, 1);
  const [now, later] = [new Date(Date.now() + 1_000), new Date(Date.now() + HOUR_MS)];
  const first = await pool.transaction((tx) => claimDue(tx, 'a/1', 1, now));
  await record(
    pool,
    first.deliveries.map((one) => reportFor(one, 'a/1', FAILED)),
    () => 0,
    now,
  );
  const { deliveries } = await pool.transaction((tx) => claimDue(tx, 'a/2', 1, later));
  expect(deliveries).toHaveLength(1);
  expect(await readOnAfter(3, pool, later)).toBe(0);
});

test.each([
  { what: 'what comes new', inOrder: false, isDue: false },
  { what: 'what is due', inOrder: false, isDue: true },
  { what: 'what is due in order', inOrder: true, isDue: true },
])('an earlier keeper claims nothing of a lane that another keeps: $what', async ({ inOrder, isDue }) => {
  await sql`update lanes set in_order = ${inOrder}`;
  if (isDue) await commitEvents(sql, partnerId, 1);
  const lanes = new KeptLanes();
  await pool.transaction(async (tx) => {
    lanes.seen = await enter(tx, 'a', false);
    for (const one of await readLanes(tx, 'a', 10)) lanes.keep(one);
  });
  if (!isDue) await commitEvents(sql, partnerId, 1);
  await sql`update lanes set keeper = 'b'`;
  const ask = lanes.plan(new Slots(64), Date.now());
  expect(ask.hooks.length + (ask.loans?.asks.length ?? 0)).toBe(isDue ? 1 : 0);
  const { rows } = await pool.transaction((tx) =>
    pollLanes(tx, { poller: 'a', number: 1, doneBelow: 1 }, lanes.seen, ask),
  );
  expect(rows.map(({ kind }) => kind)).toContain(isDue ? 'shut' : 'left');
  expect(await sql`select from claims`).toEqual([]);
});

test('the lanes of a poller that is gone go at once to the living that keep any, and are to be read', async () => {
  for (let count = 1; count < 10; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  await sql`insert into keepers (name, lanes, seen_at) values ('gone', 10, now()), ('one', 3, now()), ('two', 4, now()), ('silent', 5, now() - interval '4 seconds')`;
  await sql`update lanes set keeper = 'gone'`;
  expect(await pool.transaction((tx) => endPoller(tx, 'gone', true))).toEqual({ freed: 10, lost: 0 });
  expect(await sql`select keeper, changed, count(*)::int from lanes group by 1, 2 order by 1`).toEqual([
    { keeper: 'one', changed: true, count: 5 },
    { keeper: 'two', changed: true, count: 5 },
  ]);
});

test('a silent poller that may hold its lock is known no more, and is found dead by its row', async () => {
  await commitEvents(sql, partnerId, 1);
  await pool.transaction((tx) => claimDue(tx, 'a/1.1', 1, new Date(Date.now() + 1_000)));
  await sql`update keepers set has_lock = true, seen_at = now() - interval '6 seconds'`;
  await sql`update lanes set keeper = 'a'`;
  expect(await pool.run((tx) => heartbeat(tx, 'b', 0, true))).toMatchObject({ silent: ['a'], living: 1 });
  await pool.transaction((tx) => endPoller(tx, 'a', false));
  expect(await pool.run((tx) => heartbeat(tx, 'b', 0, true))).toMatchObject({ silent: [], living: 1 });
  expect(await pool.run((tx) => heartbeat(tx, 'a', 1, true))).toMatchObject({ isKnown: false });
  expect(await sql`select name, has_lock as "hasLock" from keepers`).toEqual([{ name: 'a', hasLock: true }]);
  expect(await pool.transaction((tx) => endPoller(tx, 'a', true))).toMatchObject({ lost: 1 });
  expect(await sql`select from keepers`).toEqual([]);
});

test('a poller that keeps nothing may rest with its lock for longer than a silent one lives', async () => {
  await sql`
    insert into keepers (name, has_lock, seen_at) values ('rests', true, now() - interval '10 seconds'), ('has no lock', false, now() - interval '10 seconds')`;
  expect(await pool.run((tx) => heartbeat(tx, 'b', 0, true))).toMatchObject({ silent: ['has no lock'], living: 1 });
});

test('the first webhook goes to the first of the pollers that keep none: those far behind may rest', async () => {
  await sql`delete from lanes`;
  await sql`insert into keepers (name) select 'p' || n from generate_series(1, 9) n`;
  await insertWebhook(sql, partnerId, 'https://partner.example/');
  const [first] = await sql`select name as keeper from keepers order by poller_number(name) limit 1`;
  expect(await sql`select keeper from lanes`).toEqual([first]);
});

test('a drain gives its lanes to others before what is in flight has ended, and each keeps its window', async () => {
  const [a, b] = ['a', 'b'].map((name) => startHeldPoller(pool, name, 64, Date.now() + 60_000)) as [
    HeldPoller,
    HeldPoller,
  ];
  await a.tick();
  await b.tick();
  await commitEvents(sql, partnerId, 3);
  expect(await a.tick()).toBe(3);
  const drained = a.drain();
  while ((await sql`select from lanes where keeper = 'b'`).length === 0);
  await commitEvents(sql, partnerId, 20);
  await b.fill(2);
  // The first window is 8.
  expect([a.flying(), b.flying()]).toEqual([3, 5]);
  await a.end(DELIVERED);
  await drained;
  expect(await sql`select name from keepers`).toEqual([{ name: 'b' }]);
  expect(await sql`select from claims where poller = 'a'`).toEqual([]);
});

test.each([
  ['a lane', (tx: Sql) => tx`select from lanes where webhook_id = ${webhookId} for update`],
  ['its row', (tx: Sql) => tx`select from keepers where name = 'gone' for key share`],
  ['a delivery', (tx: Sql) => tx`select from deliveries for update`],
])('the end of a dead poller does not wait for who holds %s, and the next one ends what it left', async (_, hold) => {
  await insertWebhook(sql, partnerId, 'https://partner.example/');
  await commitEvents(sql, partnerId, 1);
  await pool.transaction((tx) => claimDue(tx, 'gone/1.1', 10, new Date(Date.now() + 1_000)));
  await sql`update lanes set keeper = 'gone'`;
  const end = () =>
    pool.transaction(async (tx) => {
      await tx`set local lock_timeout = '100ms'`;
      return endPoller(tx, 'gone', true);
    });
  await sql.begin(async (tx) => {
    await hold(tx as unknown as Sql);
    await end();
  });
  expect(await sql`select seen_at from keepers`).toHaveLength(1);
  await end();
  expect(await sql`select delivery_id from attempts where outcome = 'desconhecido'`).toHaveLength(2);
  for (const left of [sql`select from keepers`, sql`select from claims`, sql`select from lanes where keeper = 'gone'`])
    expect(await left).toEqual([]);
});

test('a silent poller without a lock stays known to who reads what flies, until that is over', async () => {
  await commitEvents(sql, partnerId, 1);
  await pool.transaction((tx) => claimDue(tx, 'silent/1', 1, new Date(Date.now() + 1_000)));
  const heartbeatAndEnd = async () => {
    const { silent } = await pool.run((tx) => heartbeat(tx, 'b', 0, true));
    for (const name of silent) await pool.transaction((tx) => endPoller(tx, name, false));
    return silent;
  };
  expect(await heartbeatAndEnd()).toEqual(['silent']);
  expect(await sql`select poller from flights()`).toEqual([{ poller: 'silent' }]);
  expect(await pool.transaction((tx) => rescueOverdue(tx, new Date(Date.now() + HOUR_MS)))).toBe(1);
  expect(await heartbeatAndEnd()).toEqual(['silent']);
  expect(await sql`select from claims`).toEqual([]);
  expect(await heartbeatAndEnd()).toEqual([]);
});

test('lanes are handed back, and sleepers woken, beside somebody who locks others of them in another order', async () => {
  const { id: other } = await insertWebhook(sql, partnerId, 'https://partner.example/');
  await commitEvents(sql, partnerId, 1);
  await sql`update deliveries set next_attempt_at = now() - interval '1 hour'`;
  await sql`update lanes set keeper = 'a'`;
  const lanes = [webhookId, other].map((id) => newLane({ webhookId: id, windowSize: 4, flying: [] } as never));
  await sql.begin(async (tx) => {
    await tx`select from lanes where webhook_id = ${other} for update`;
    await pool.transaction(async (own) => {
      await own`set local lock_timeout = '100ms'`;
      expect(await checkPage(own, null, 10)).toMatchObject({ woken: 1 });
      expect(await handBack(own, 'a', lanes)).toEqual([webhookId]);
    });
  });
  expect(await pool.transaction((own) => handBack(own, 'a', lanes))).toEqual([other]);
});

test('a poller that wakes after its end still serves the lane that somebody held locked then', async () => {
  const a = startHeldPoller(pool, 'a', 64, Date.now() + 60_000);
  await a.tick(0);
  await sql.begin(async (tx) => {
    await tx`select from lanes for update`;
    await pool.transaction((own) => endPoller(own, 'a', false));
  });
  expect(await sql`select keeper from lanes`).toEqual([{ keeper: 'a' }]);
  for (const atS of [2, 4]) await a.tick(atS);
  await commitEvents(sql, partnerId, 3);
  for (const atS of [6, 8]) await a.fill(atS);
  expect(a.flying()).toBe(3);
});
