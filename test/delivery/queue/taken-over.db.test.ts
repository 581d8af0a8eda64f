/** What a lane that was taken over asks for while its earlier keeper's claims stand. */
import { expect, test } from 'vitest';
import type { Pool } from '../../../src/db/pool.ts';
import { beat, enter, readLanes, takeTurn } from '../../../src/delivery/queue/claim.ts';
import { KeptLanes } from '../../../src/delivery/queue/lanes/kept-lanes.ts';
import { endPoller } from '../../../src/delivery/queue/upkeep/dead-pollers.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { Slots } from '../../../src/delivery/queue/slots.ts';
import { DELIVERED, reportFor } from '../../support/delivered.ts';
import { type HeldPoller, startHeldPoller } from '../../support/held-poller.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertWebhook } from '../../support/outbox.ts';
import { claimDue } from '../../support/turn.ts';

const HOUR_MS = 3_600_000;
const FAILED = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 } as const;

const { partnerId, pool, sql } = await useOneWebhook();

/** Turns of a poller that takes the lanes; returns what the next one would read on. */
async function readOnAfter(turns: number, onePool: Pool, now: Date): Promise<number> {
  const lanes = new KeptLanes();
  await onePool.transaction(async (tx) => {
    lanes.seen = await enter(tx, 'b', false);
    for (const one of await readLanes(tx, 'b', 10)) lanes.keep(one);
  });
  const plan = () => lanes.plan(new Slots(64), now.getTime());
  for (let turn = 1; turn <= turns; turn += 1) {
    const ask = plan();
    const { rows, seen } = await onePool.transaction((tx) =>
      takeTurn(tx, { poller: 'b', number: turn, doneBelow: turn }, lanes.seen, ask, null, now),
    );
    expect(lanes.hear(ask, rows, now.getTime())).toEqual([]);
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
  expect(await pool.run((tx) => beat(tx, 'b', 0, true))).toMatchObject({ silent: ['a'], living: 2 });
  await pool.transaction((tx) => endPoller(tx, 'a', false));
  expect(await pool.run((tx) => beat(tx, 'b', 0, true))).toMatchObject({ silent: [], living: 1 });
  expect(await pool.run((tx) => beat(tx, 'a', 1, true))).toMatchObject({ isKnown: false });
  expect(await sql`select name, has_lock as "hasLock" from keepers`).toEqual([{ name: 'a', hasLock: true }]);
  expect(await pool.transaction((tx) => endPoller(tx, 'a', true))).toMatchObject({ lost: 1 });
  expect(await sql`select from keepers`).toEqual([]);
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
