/** What a keeper does when the answer to a commit is lost, a row or a lane is locked, or silent webhooks take every slot. */
import { expect, test } from 'vitest';
import { readLanes } from '../../../src/delivery/queue/keepers.ts';
import { muteLane } from '../../../src/delivery/queue/orders/lane.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { SILENCE, startHeldPoller } from '../../support/held-poller.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { commitEvents, insertPartner, insertWebhook } from '../../support/outbox.ts';
import { poolWith } from '../../support/pool-with.ts';

const { pool, sql } = await useEmptyDatabase();
const soon = () => Date.now() + 60_000;

/** The pool; counts how often lanes are read. The answer to the next commit that does is lost, once `state.loses`. */
function losing() {
  const state = { loses: false, reads: 0 };
  const lossy = poolWith(pool, {
    async transaction(work) {
      const result = await pool.transaction(work);
      if (!String(work).includes('readLanes')) return result;
      state.reads += 1;
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
