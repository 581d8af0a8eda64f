/** What a keeper does when the answer to a commit is lost, a row or a lane is locked, or silent webhooks take every slot. */
import { expect, test } from 'vitest';
import { readLanes } from '../../../src/delivery/queue/keepers.ts';
import { LEASE_ALONE } from '../../../src/delivery/poller/liveness.ts';
import { muteLane } from '../../../src/delivery/queue/orders/lane.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { SILENCE, startHeldPoller } from '../../support/held-poller.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { commitEvents, insertPartner, insertWebhook } from '../../support/outbox.ts';
import { poolWith } from '../../support/pool-with.ts';

const { pool, sql } = await useEmptyDatabase();
const soon = () => Date.now() + 60_000;

/** The pool; counts how often lanes are read (`what`). The answer to the next commit that does is lost, once `state.loses`, or comes after `state.meanwhile`. */
function losing(what = 'readLanes') {
  const state = { loses: false, reads: 0, meanwhile: async () => {} };
  const lossy = poolWith(pool, {
    async transaction(work) {
      const result = await pool.transaction(work);
      if (!String(work).includes(what)) return result;
      state.reads += 1;
      await state.meanwhile();
      if (!state.loses) return result;
      state.loses = false;
      throw Object.assign(new Error('connection lost'), { code: 'CONNECTION_CLOSED' });
    },
  });
  return { state, lossy };
}

test('a muting whose reading committed without an answer is kept', async () => {
  const partnerId = await insertPartner(sql);
  const { id } = await insertWebhook(sql, partnerId, 'https://muted.example/');
  const { state, lossy } = losing();
  const poller = startHeldPoller(lossy, 'p', 64, soon());
  await poller.fill(0);
  await pool.transaction((tx) => muteLane(tx, id));
  state.loses = true;
  await expect(
    (async () => {
      for (let poll = 1; poll < 5; poll += 1) await poller.tick(poll);
    })(),
  ).rejects.toThrow('connection lost');
  await commitEvents(sql, partnerId, 3);
  for (let atS = 10; atS < 100; atS += 10) await poller.fill(atS);
  expect(poller.flying()).toBe(0);
});

test('a lane that was taken by a commit without an answer is served', async () => {
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://taken.example/');
  await commitEvents(sql, partnerId, 2);
  const { state, lossy } = losing();
  const poller = startHeldPoller(lossy, 'p', 64, soon());
  state.loses = true;
  await expect(poller.tick(0)).rejects.toThrow('connection lost');
  for (let atS = 2; atS < 30; atS += 2) await poller.fill(atS);
  expect(poller.flying()).toBe(2);
});

test('a retry that somebody held locked when it was due is sent once that one has rolled back', async () => {
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://held.example/');
  const startMs = soon();
  const poller = startHeldPoller(pool, 'p', 64, startMs);
  await commitEvents(sql, partnerId, 1);
  await poller.fill(0);
  await poller.end({ ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 });
  const [row] = await sql<{ due: Date }[]>`select due_at as due from pending`;
  const dueS = ((row?.due.getTime() ?? 0) - startMs) / 1_000 + 1;
  const held = sql.begin(async (tx) => {
    await tx`select hold_pending(array(select id from deliveries))`;
    expect(await poller.tick(dueS)).toBe(0);
    throw new Error('undone');
  });
  await expect(held).rejects.toThrow('undone');
  expect(await poller.tick(dueS + 1)).toBe(1);
});

test('a changed lane that somebody holds locked keeps nobody else waiting', async () => {
  const partnerId = await insertPartner(sql);
  const { id } = await insertWebhook(sql, partnerId, 'https://locked.example/');
  await insertWebhook(sql, partnerId, 'https://free.example/');
  const { state, lossy } = losing();
  const poller = startHeldPoller(lossy, 'p', 64, soon());
  await poller.fill(0);
  await sql`update lanes set changed = true where webhook_id = ${id}`;
  await sql.begin(async (tx) => {
    await tx`select from lanes where webhook_id = ${id} for update`;
    const read = pool.transaction(async (other) => {
      await other`set local lock_timeout = '5s'`;
      return readLanes(other, 'p', 0);
    });
    expect(await read).toEqual([]);
    state.reads = 0;
    await commitEvents(sql, partnerId, 1);
    await poller.fill(1);
    // It does not go round for a lane that it can't read.
    expect(state.reads).toBe(0);
    expect([poller.flying('https://free'), poller.flying('https://locked')]).toEqual([1, 0]);
  });
  await poller.fill(2);
  expect(poller.flying('https://locked')).toBe(1);
});

test('retries of more silent webhooks than a poller has slots leave some to a webhook that answers', async () => {
  const startMs = soon();
  for (let count = 0; count < 96; count += 1) {
    const partnerId = await insertPartner(sql);
    await insertWebhook(sql, partnerId, `https://silent.example/${count}`);
    await commitEvents(sql, partnerId, 40);
  }
  await sql`update lanes set window_size = 1`;
  await sql`update deliveries set attempts = 1, failures = 1, next_attempt_at = ${new Date(startMs - 1_000)}`;
  await sql`update pending set tx = null, number = 1, due_at = ${new Date(startMs - 1_000)}`;
  const poller = startHeldPoller(pool, 'p', 64, startMs);
  await poller.fill(0);
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://answers.example/');
  await poller.fill(1);
  await commitEvents(sql, partnerId, 1);
  for (let atS = 2; atS < 120 && poller.flying('https://answers') === 0; atS += 1) {
    await poller.end(SILENCE, 'https://silent', 2);
    await poller.fill(atS);
  }
  expect(poller.flying('https://answers')).toBe(1);
});

test('a retry that is recorded while its lane is read is sent when it is due', async () => {
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://retried.example/');
  const { state, lossy } = losing();
  const startMs = soon();
  const poller = startHeldPoller(lossy, 'p', 64, startMs);
  await commitEvents(sql, partnerId, 1);
  await poller.fill(0);
  await sql`update lanes set changed = true`;
  state.reads = 0;
  state.meanwhile = () => poller.end({ ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 500 });
  await poller.tick(1);
  expect([state.reads, poller.flying()]).toEqual([1, 0]);
  state.meanwhile = async () => {};
  const [row] = await sql<{ due: Date }[]>`select due_at as due from pending`;
  expect(await poller.tick(((row?.due.getTime() ?? 0) - startMs) / 1_000 + 1)).toBe(1);
});

test('an unsure keeper that waits for a lane reads what the one that held it has changed of its webhook', async () => {
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://old.example/');
  const { state, lossy } = losing();
  const poller = startHeldPoller(lossy, 'p', 64, soon());
  await poller.fill(0);
  await sql`update lanes set changed = true`;
  state.loses = true;
  await expect(poller.tick(1)).rejects.toThrow('connection lost');
  let reading: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    await tx`update webhooks set url = 'https://new.example/'`;
    reading = poller.tick(2);
    await untilOneWaits();
  });
  await reading;
  await commitEvents(sql, partnerId, 1);
  await poller.fill(3);
  expect([poller.flying('https://new'), poller.flying('https://old')]).toEqual([1, 0]);
});

test('what another keeper has in flight of a lane that came back before its handing over was heard of is not sent twice', async () => {
  const partnerId = await insertPartner(sql);
  const urls = ['https://one.example/', 'https://two.example/'];
  for (const url of urls) await insertWebhook(sql, partnerId, url);
  const { state, lossy } = losing('handBack');
  const startMs = soon();
  const [a, b] = [startHeldPoller(lossy, 'a', 64, startMs), startHeldPoller(pool, 'b', 64, startMs)];
  await a.fill(0);
  await b.fill(0);
  state.loses = true;
  await expect(a.tick(2)).rejects.toThrow('connection lost');
  await commitEvents(sql, partnerId, 1);
  await b.fill(2);
  expect(b.flying()).toBe(1);
  await sql`update keepers set seen_at = clock_timestamp()`;
  await sql`select end_poller('b', false)`;
  expect(await sql`select from lanes where keeper = 'a'`).toHaveLength(2);
  for (const atS of [3, 4, 5]) await a.fill(atS);
  expect(urls.map((url) => a.flying(url) + b.flying(url))).toEqual([1, 1]);
});

test('a new term has all lanes read: the server may have crashed and given a number of a transaction again', async () => {
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://again.example/');
  let term = 1;
  const poller = startHeldPoller(pool, 'p', 64, soon(), { ...LEASE_ALONE, term: async () => term });
  await poller.fill(0);
  await sql.begin(async (tx) => {
    await commitEvents(tx as unknown as Sql, partnerId, 1);
    await tx`update pending set tx = '3'`;
  });
  expect(await poller.tick(1)).toBe(0);
  term = 2;
  expect(await poller.tick(2)).toBe(1);
});

async function untilOneWaits(): Promise<void> {
  for (;;) {
    const rows = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (rows.length > 0) return;
  }
}
