/** Lanes: who has one, who keeps it, and what a change of it waits for. */
import { expect, test } from 'vitest';
import { pollLanes } from '../../../src/delivery/queue/claim.ts';
import { Consent } from '../../../src/delivery/queue/consent.ts';
import { enter, handBack, noteResting, readLanes } from '../../../src/delivery/queue/keepers.ts';
import type { KeptLane } from '../../../src/delivery/queue/lanes/kept-lane.ts';
import { KeptLanes } from '../../../src/delivery/queue/lanes/kept-lanes.ts';
import { muteLane, setCap, wakeLane } from '../../../src/delivery/queue/orders/lane.ts';
import { Slots } from '../../../src/delivery/queue/slots.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { startCounting } from '../../support/counters.ts';
import { openPool } from '../../support/database.ts';
import { startHeldPoller } from '../../support/held-poller.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertWebhook } from '../../support/outbox.ts';
import { SESSION_SETTINGS } from '../../../src/delivery/poller/session.ts';

/** What is delivered while a snapshot is held open. */
const ROUNDS = 10;
const EVENTS = 200;

const { database, partnerId, webhookId, pool, sql } = await useOneWebhook();

test('every webhook is born with one lane, and nobody else makes any', async () => {
  expect(await sql`select webhook_id as id, keeper, changed from lanes`).toEqual([
    { id: webhookId, keeper: null, changed: false },
  ]);
});

test('a lane is taken by one poller alone, also by those that ask together', async () => {
  for (let count = 1; count < 20; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  const names = ['one', 'two', 'three', 'four'];
  const taken = await Promise.all(
    names.map((name) =>
      pool.transaction(async (tx) => {
        await enter(tx, name, false);
        return readLanes(tx, name, 10);
      }),
    ),
  );
  const ids = taken.flat().map((lane) => lane.webhookId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(20);
});

test('each change of a kept lane, its webhook or its partner has its keeper read it before it claims more', async () => {
  const poller = startHeldPoller(pool, 'p', 64, Date.now() + 60_000);
  await poller.tick();
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
    select id, partner_id, 1, now(), now(), 'erro_conexao' from webhooks where id = ${webhookId}`;
  const changes: (() => Promise<unknown>)[] = [
    () => sql`update webhooks set url = 'https://new.example/'`,
    () => pool.transaction((tx) => setCap(tx, webhookId, 9)),
    () => pool.transaction((tx) => muteLane(tx, webhookId)),
    () => pool.transaction((tx) => wakeLane(tx, webhookId)),
    () => sql`select change_failing(${webhookId}, 'falhando', now(), 'test')`,
    () => sql`select change_failing(${webhookId}, 'fim_da_falha', now(), 'test')`,
    () => sql`update partners set active = false where id = ${partnerId}`,
    () => sql`update partners set active = true where id = ${partnerId}`,
  ];
  for (const change of changes) {
    await change();
    expect(await sql`select keeper, changed from lanes`).toEqual([{ keeper: 'p', changed: true }]);
    // One turn that is told of it, and one that has read it.
    await poller.tick();
    await poller.tick();
    expect(await sql`select keeper, changed from lanes`).toEqual([{ keeper: 'p', changed: false }]);
  }
  await commitEvents(sql, partnerId, 1);
  await poller.tick();
  expect(poller.flying('https://new.example/')).toBe(1);
});

test('what a poller learned of a lane goes with it: its window, when it hands it back', async () => {
  const lanes = new KeptLanes();
  await pool.transaction(async (tx) => {
    await enter(tx, 'p', false);
    for (const one of await readLanes(tx, 'p', 1)) lanes.keep(one);
  });
  const lane = lanes.get(webhookId) as KeptLane;
  lane.pace = { ...lane.pace, window: 5.5 };
  await pool.transaction((tx) => handBack(tx, 'p', [lane]));
  expect(await sql`select keeper, window_size as size from lanes`).toEqual([{ keeper: null, size: 5.5 }]);
});

test('a turn steps over none of what is over, though a snapshot held open keeps it all', async () => {
  const { promise: isOver, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  const session = openPool(database.url, { name: 'lanes test', settings: SESSION_SETTINGS });
  const poller = startHeldPoller(session, 'p', 512, Date.now() + 60_000);
  await sql`update lanes set max_in_flight = 500, window_size = 500`;
  const holding = sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select from lanes`;
    hold();
    await isOver;
  });
  await isHeld;
  for (let round = 0; round < ROUNDS; round += 1) {
    await commitEvents(sql, partnerId, EVENTS);
    await poller.fill();
    expect(poller.flying()).toBe(EVENTS);
    await poller.end(DELIVERED);
  }
  const counting = await startCounting(database.url);
  await commitEvents(sql, partnerId, 1);
  expect(await poller.tick()).toBe(1);
  await session.close();
  for (const table of ['lanes', 'pending', 'deliveries']) {
    const { entries } = await counting.of(table);
    expect({ table, entries, isFew: entries < (ROUNDS * EVENTS) / 20 }).toMatchObject({ table, isFew: true });
  }
  letGo();
  await holding;
});

test('no turn names lanes that may take nothing for long: their rows say so', async () => {
  for (let count = 0; count < 100; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
  await commitEvents(sql, partnerId, 1);
  await sql`update lanes set muted_at = now() where webhook_id <> ${webhookId}`;
  const lanes = new KeptLanes();
  const keep = async () => {
    for (const one of await pool.transaction((tx) => readLanes(tx, 'p', 200))) lanes.keep(one);
  };
  lanes.seen = await pool.run((tx) => enter(tx, 'p', false));
  await keep();
  const poll = async (number: number) => {
    const ask = lanes.plan(new Slots(64), Date.now());
    const taken = await pool.transaction((tx) => pollLanes(tx, { poller: 'p', number, doneBelow: 0 }, lanes.seen, ask));
    lanes.seen = taken.seen;
    return { named: ask.closed.length, due: lanes.apply(ask, taken.rows, Date.now()).length };
  };
  for (let number = 1; number <= 2; number += 1) expect((await poll(number)).named).toBeGreaterThanOrEqual(100);
  for (const id of await pool.transaction((tx) => noteResting(tx, 'p', lanes.misnoted)))
    (lanes.get(id) as KeptLane).isResting = true;
  await poll(3);
  expect(await poll(4)).toEqual({ named: 0, due: 0 });
  await commitEvents(sql, partnerId, 1);
  // Each muted one is told of, and has more that it may not take.
  expect(await poll(5)).toEqual({ named: 0, due: 1 });
  await sql`update lanes set muted_at = null, changed = true`;
  await keep();
  expect((await poll(6)).due).toBeGreaterThan(0);
});

test.each([
  ['muted', () => sql`update lanes set muted_at = now()`],
  ['inactive', () => sql`update webhooks set active = false`],
  ['quiet', () => sql`update webhooks set refusals = 10, quiet_until = now() + interval '1 minute'`],
])('what is new in a lane that is %s does not have its poller ask more often', async (_, stop) => {
  await commitEvents(sql, partnerId, 2);
  await stop();
  const lanes = new KeptLanes();
  lanes.seen = await pool.run((tx) => enter(tx, 'p', false));
  for (const one of await pool.transaction((tx) => readLanes(tx, 'p', 1))) lanes.keep(one);
  const nowMs = Date.now();
  expect(lanes.isWaiting(nowMs)).toBe(false);
  await commitEvents(sql, partnerId, 1);
  const ask = lanes.plan(new Slots(64), nowMs);
  const poll = await pool.transaction((tx) => pollLanes(tx, { poller: 'p', number: 1, doneBelow: 1 }, lanes.seen, ask));
  expect(poll.rows.filter(({ kind }) => kind !== 'left')).toEqual([]);
  expect(lanes.apply(ask, poll.rows, nowMs)).toEqual([]);
  expect(lanes.isWaiting(nowMs)).toBe(false);
  await sql`update lanes set muted_at = null, changed = true`;
  await sql`update webhooks set active = true, quiet_until = null`;
  for (const one of await pool.transaction((tx) => readLanes(tx, 'p', 0))) lanes.keep(one);
  expect(lanes.isWaiting(nowMs)).toBe(true);
});

test('who counts the answers of many URLs waits for the first of their lanes, and holds no later one meanwhile', async () => {
  const url = 'https://partner.example/';
  const ids = [webhookId];
  while (ids.length < 200) ids.push((await insertWebhook(sql, partnerId, url)).id);
  await sql`update webhooks set refusals = 0`;
  await sql`update lanes set keeper = 'a'`;
  const consent = new Consent();
  for (const id of ids) consent.learn(id, true);
  const answers = ids.map((id) => ({ webhookId: id, url, result: DELIVERED }));
  const counting = await sql.begin(async (tx) => {
    await tx`select from lanes where webhook_id = ${webhookId} for update`;
    const counted = consent.count(pool, answers, null);
    const waiting = () =>
      sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    while ((await waiting()).length === 0);
    expect(await tx`select from lanes for update skip locked`).toHaveLength(ids.length);
    return { counted };
  });
  await counting.counted;
  expect(await sql`select from webhooks where refusals is not null`).toEqual([]);
});
