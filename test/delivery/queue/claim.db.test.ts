import { beforeEach, describe, expect, test } from 'vitest';
import { TIMES_S } from '../../../src/contract/delivery.ts';
import { setCap } from '../../../src/delivery/queue/orders/lane.ts';
import { endPoller } from '../../../src/delivery/queue/maintenance/dead-pollers.ts';
import { CHECKS, type CheckName } from '../../model/checks.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { startHeldPoller } from '../../support/held-poller.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertWebhook, readAttempts, readDeliveries } from '../../support/outbox.ts';
import { claimDue, pollLanes } from '../../support/poll.ts';

const LEASE_S = TIMES_S.lease;

let start: Date;

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  start = new Date(Date.now() + 1_000);
});

const after = (seconds: number) => new Date(start.getTime() + seconds * 1_000);

const claim = (name: string, limit: number, now = start) => pollLanes(pool, name, limit, now);

describe('the claim', () => {
  test('never lets a webhook have more in flight than its window, over any number of concurrent claims', async () => {
    await commitEvents(sql, partnerId, 40);
    const claims = await Promise.all(
      Array.from({ length: 6 }, (_, index) => pool.transaction((tx) => claimDue(tx, `p/${index}`, 100, start))),
    );
    expect(claims.flatMap(({ deliveries }) => deliveries)).toHaveLength(8);
    expect(await claim('p/9', 100)).toEqual([]);
  });

  test('serves lanes a few at once in turn, so that none waits behind the backlog of another, however few slots there are', async () => {
    await insertWebhook(sql, partnerId, 'https://other.example/');
    await commitEvents(sql, partnerId, 60);
    await sql`update lanes set max_in_flight = 100, window_size = 100`;
    for (const capacity of [5, 10]) {
      const poller = startHeldPoller(pool, `p${capacity}`, capacity, start.getTime());
      let [one, other] = [0, 0];
      for (let poll = 0; poll < 8; poll += 1) {
        await poller.tick();
        one += poller.flying('https://partner');
        other += poller.flying('https://other');
        await poller.end(DELIVERED);
      }
      expect(one + other).toBeGreaterThanOrEqual(8 * (capacity - 2));
      // Whoever is cut off goes on first.
      expect(Math.abs(one - other)).toBeLessThanOrEqual(8);
      await poller.drain();
    }
  });

  test('keeps count of what it has in flight when others come late', async () => {
    await commitEvents(sql, partnerId, 5);
    expect(await claim('p/1', 100)).toHaveLength(5);
    await commitEvents(sql, partnerId, 20);
    expect(await claim('p/2', 100, after(1))).toHaveLength(3);
    expect(await claim('p/3', 100, after(2))).toEqual([]);
    // The first five are lost.
    expect(await claim('p/4', 100, after(LEASE_S + 0.5))).toHaveLength(5);
    expect(await claim('p/5', 100, after(LEASE_S + 1))).toHaveLength(3);
  });

  test('finds what an append that began earlier commits late', async () => {
    const poller = startHeldPoller(pool, 'p', 64, start.getTime());
    await poller.tick();
    const { promise: committed, resolve: letCommit } = Promise.withResolvers<void>();
    const { promise: appended, resolve: notifyAppended } = Promise.withResolvers<void>();
    const late = sql.begin(async (tx) => {
      await commitEvents(tx as never, partnerId, 1);
      notifyAppended();
      await committed;
    });
    await appended;
    await commitEvents(sql, partnerId, 1);
    expect(await poller.tick()).toBe(1);
    expect(await poller.tick()).toBe(0);
    letCommit();
    await late;
    expect(await poller.tick()).toBe(1);
    expect(poller.flying()).toBe(2);
  });

  test('takes what is tried again when it is due, and not before', async () => {
    await commitEvents(sql, partnerId, 1);
    await sql`update deliveries set next_attempt_at = ${after(60)}`;
    const poller = startHeldPoller(pool, 'p', 64, start.getTime());
    for (const [atS, taken] of [
      [0, 0],
      [59, 0],
      [60, 1],
    ] as const)
      expect(await poller.tick(atS)).toBe(taken);
  });

  test('ends with its poller: what it named is due at once, with the row of what was lost, and its lanes are free', async () => {
    await commitEvents(sql, partnerId, 12);
    await claim('dead/1', 100);
    await sql`update lanes set keeper = 'dead'`;
    expect(await claim('alive/1', 100)).toEqual([]);
    expect(await pool.transaction((tx) => endPoller(tx, 'dead', true))).toEqual({ freed: 1, lost: 8 });
    expect(await claim('alive/2', 100)).toHaveLength(8);
    expect(await sql`select distinct outcome from attempts`).toEqual([{ outcome: 'desconhecido' }]);
    expect(await sql`select from attempts`).toHaveLength(8);
  });

  test('of a frozen poller stands, though its lanes go to others', async () => {
    await commitEvents(sql, partnerId, 12);
    await claim('frozen/1', 100);
    await sql`update lanes set keeper = 'frozen'`;
    expect(await pool.transaction((tx) => endPoller(tx, 'frozen', false))).toEqual({ freed: 1, lost: 0 });
    expect(await claim('alive/1', 100)).toEqual([]);
    expect(await sql`select from attempts`).toHaveLength(0);
  });

  test('books one failure for the fifth attempt lost in a row, and does not send', async () => {
    await commitEvents(sql, partnerId, 1);
    for (let lost = 0; lost < 5; lost += 1) {
      expect(await claim(`dead/${lost}`, 10, after(lost * (LEASE_S + 1)))).toHaveLength(1);
    }
    expect(await claim('alive/1', 10, after(5 * (LEASE_S + 1)))).toEqual([]);
    const [delivery] = await readDeliveries(sql, webhookId);
    expect(delivery).toMatchObject({ attempts: 5, failures: 1, lostInRow: 0, status: 'pendente', claimedBy: null });
    expect(delivery?.nextAttemptAt).toEqual(after(5 * (LEASE_S + 1) + 60));
    expect(await readAttempts(sql, String(delivery?.id))).toHaveLength(5);
  });

  test('ends in erro when the last slot of the schedule is booked for lost attempts', async () => {
    await commitEvents(sql, partnerId, 1);
    await sql`update deliveries set attempts = 10, failures = 5, lost_in_row = 4`;
    await sql`update pending set number = 10`;
    await claim('dead/1', 10);
    expect(await claim('alive/1', 10, after(LEASE_S + 1))).toEqual([]);
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'erro', failures: 6, nextAttemptAt: null }]);
  });

  test('never waits for who holds a delivery, its row or the lane, and finds it again', async () => {
    const poller = startHeldPoller(pool, 'p', 64, start.getTime());
    await poller.tick();
    await commitEvents(sql, partnerId, 2);
    await sql.begin(async (tx) => {
      await tx`select from lanes for update`;
      expect(await poller.tick()).toBe(0);
    });
    await sql.begin(async (tx) => {
      await tx`select from pending order by delivery_id limit 1 for update`;
      await poller.fill(1);
      expect(poller.flying()).toBe(1);
      await tx`select from deliveries for update`;
    });
    await poller.fill(2);
    expect(poller.flying()).toBe(2);
  });
});

// What each of these finds without its rule, the mutants show (test/model/mutants.db.test.ts).
test.each<CheckName>([
  'lost claim found twice',
  'lost claim beside a record',
  'stale release',
  'deactivated',
  'deactivated partner',
  'partner beside a claim',
  'unknown commit',
  'late commit of a claim',
])('the check holds: %s', (name) => expect(CHECKS[name](pool, sql, 1)).resolves.toBeUndefined());

describe('the cap', () => {
  test('is what the operator set, and raising it has more sent at once', async () => {
    await commitEvents(sql, partnerId, 20);
    expect(await setCap(sql, webhookId, 2)).toBe(64);
    expect(await claim('p/1', 100)).toHaveLength(2);
    expect(await claim('p/2', 100)).toEqual([]);
    expect(await setCap(sql, webhookId, 6)).toBe(2);
    expect(await claim('p/3', 100, after(1))).toHaveLength(4);
    expect(await claim('p/4', 100, after(1))).toEqual([]);
  });

  test('of an unknown webhook cannot be set', async () => {
    expect(await setCap(sql, partnerId, 2)).toBeNull();
    await expect(setCap(sql, webhookId, 0)).rejects.toThrow(/lanes_max_in_flight/);
  });
});
