import { TIMES_S } from '../../../src/contract/delivery.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { SESSION_SETTINGS } from '../../../src/delivery/poller/session.ts';
import { setCap } from '../../../src/delivery/queue/orders/cap.ts';
import { claimDue } from '../../support/claim-due.ts';
import { insertArrivals } from '../../../src/delivery/queue/arrivals.ts';
import { armLanes } from '../../support/arm-lanes.ts';
import { releaseClaim } from '../../../src/delivery/queue/release.ts';
import { sweepLanes } from '../../../src/delivery/queue/upkeep/sweep.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertWebhook, readAttempts, readDeliveries } from '../../support/outbox.ts';
import { takeTurn } from '../../support/turn.ts';
import { openPool } from '../../support/database.ts';

const LEASE_S = TIMES_S.lease;

let start: Date;

const { database, pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  start = new Date(Date.now() + 1_000);
});

const after = (seconds: number) => new Date(start.getTime() + seconds * 1_000);

const claim = (name: string, limit: number, now = start) => takeTurn(pool, name, limit, now);

async function lane(id = webhookId) {
  const [row] = await sql<[{ due: Date | null; saturated: boolean }]>`
    select next_due_at as due, saturated from lanes where webhook_id = ${id}`;
  return row;
}

describe('the claim', () => {
  test('never lets a webhook have more in flight than its cap, over any number of concurrent claims', async () => {
    await commitEvents(sql, partnerId, 40);
    await armLanes(sql, start);
    const claims = await Promise.all(
      Array.from({ length: 6 }, (_, index) => pool.transaction((tx) => claimDue(tx, `p/${index}`, 100, start))),
    );
    expect(claims.flatMap(({ deliveries }) => deliveries)).toHaveLength(8);
    expect(await claim('p/late', 100)).toEqual([]);
    expect(await lane()).toEqual({ due: after(LEASE_S), saturated: true });
  });

  test('tells which webhooks it left without a free slot', async () => {
    const other = await insertWebhook(sql, partnerId, 'https://other.example/');
    await commitEvents(sql, partnerId, 5);
    await sql`update lanes set window_size = 5 where webhook_id = ${webhookId}`;
    await armLanes(sql, start);
    const { deliveries, full } = await pool.transaction((tx) => claimDue(tx, 'p/1', 100, start));
    expect(deliveries).toHaveLength(10);
    expect([...full]).toEqual([webhookId]);
    expect(full).not.toContain(other.id);
  });

  test('serves every lane also when there are fewer slots than one lane would take', async () => {
    const other = await insertWebhook(sql, partnerId, 'https://other.example/');
    await commitEvents(sql, partnerId, 20);
    await armLanes(sql, start);
    await sql`update lanes set max_in_flight = 100, window_size = 100, next_due_at = ${after(-1)} where webhook_id = ${webhookId}`;
    const served = new Set<string>();
    for (let turn = 0; turn < 2; turn += 1) {
      for (const delivery of await claim(`p/${turn}`, 5)) served.add(delivery.webhookId);
    }
    expect(served).toEqual(new Set([webhookId, other.id]));
  });

  test('serves a lane a few at once and then the others, so that no lane waits behind the backlog of another', async () => {
    const other = await insertWebhook(sql, partnerId, 'https://other.example/');
    await commitEvents(sql, partnerId, 40);
    await armLanes(sql, start);
    await sql`update lanes set max_in_flight = 100, window_size = 100, next_due_at = ${after(-1)}`;
    // As a poller's own session plans it: a hash join would change the order of the lanes.
    const { url } = database;
    const session = openPool(url, { name: 'claim test', settings: SESSION_SETTINGS });
    const webhooks = async (name: string) => {
      const claimed = await takeTurn(session, name, 10, start);
      return Object.entries(Object.groupBy(claimed, (one) => (one.webhookId === other.id ? 'other' : 'one')));
    };
    const shares = [await webhooks('p/1'), await webhooks('p/2')].map((turn) =>
      turn.map(([, some]) => some.length).toSorted((one, next) => one - next),
    );
    // Whoever was cut off at two goes on first, before the one that was served.
    expect(shares).toEqual([
      [2, 8],
      [2, 8],
    ]);
    const [flying] = await sql`
      select count(*) filter (where webhook_id = ${webhookId})::int as one, count(*)::int as both
      from deliveries where claimed_by is not null`;
    expect(flying).toEqual({ one: 10, both: 20 });
  });

  test('keeps count of what it has in flight when deliveries that were due before those come late', async () => {
    await commitEvents(sql, partnerId, 5);
    expect(await claim('p/1', 100)).toHaveLength(5);
    await commitEvents(sql, partnerId, 20);
    await sql`update deliveries set next_attempt_at = ${after(-3_600)} where claimed_by is null`;
    await pool.transaction((tx) => insertArrivals(tx, [webhookId]));
    expect(await claim('p/2', 100, after(1))).toHaveLength(3);
    expect(await claim('p/3', 100, after(2))).toEqual([]);
    // The first five are lost, and are found although others are due before them.
    expect(await claim('p/4', 100, after(LEASE_S + 0.5))).toHaveLength(5);
    expect(await claim('p/5', 100, after(LEASE_S + 1))).toHaveLength(3);
  });

  test('looks again before its mark when an append that began earlier commits late', async () => {
    const { promise: committed, resolve: letCommit } = Promise.withResolvers<void>();
    const { promise: appended, resolve: tellAppended } = Promise.withResolvers<void>();
    const late = sql.begin(async (tx) => {
      await commitEvents(tx as never, partnerId, 1);
      tellAppended();
      await committed;
    });
    await appended;
    await commitEvents(sql, partnerId, 1);
    expect(await claim('p/1', 100)).toHaveLength(1);
    letCommit();
    await late;
    expect(await claim('p/2', 100)).toHaveLength(1);
  });

  test('puts a lane it has served behind the lanes that still wait', async () => {
    await commitEvents(sql, partnerId, 20);
    await claim('p/1', 2);
    const fresh = await insertWebhook(sql, partnerId, 'https://fresh.example/');
    await sql`update lanes set next_due_at = ${after(0)}`;
    await sql`update lanes set next_due_at = ${after(-1)} where webhook_id = ${fresh.id}`;
    await sql`update deliveries set webhook_id = ${fresh.id} where id = (select max(id::text)::uuid from deliveries)`;
    const [first] = await claim('p/2', 1);
    expect(first?.webhookId).toBe(fresh.id);
  });

  test('re-arms the lane for the next retry when nothing is due any more', async () => {
    await commitEvents(sql, partnerId, 1);
    await sql`update deliveries set next_attempt_at = ${after(60)}`;
    expect(await claim('p/1', 10)).toEqual([]);
    expect(await lane()).toEqual({ due: after(60), saturated: false });
    expect(await claim('p/2', 10, after(59))).toHaveLength(0);
    expect(await claim('p/3', 10, after(60))).toHaveLength(1);
  });

  test('takes a delivery over when its lease has ended, and writes the lost attempt', async () => {
    await commitEvents(sql, partnerId, 1);
    const [first] = await claim('dead/1', 10);
    expect(await claim('alive/1', 10, after(LEASE_S - 1))).toEqual([]);
    const [second] = await claim('alive/2', 10, after(LEASE_S + 1));
    expect([first?.number, second?.number]).toEqual([1, 2]);
    expect(await readAttempts(sql, String(first?.id))).toMatchObject([
      { number: 1, outcome: 'desconhecido', late: false, startedAt: start, durationMs: null },
    ]);
  });

  test('finds a lost claim that no mark of its lane tells of', async () => {
    await commitEvents(sql, partnerId, 1);
    await armLanes(sql, start);
    await sql`update deliveries set attempts = 1, claimed_by = 'dead/1', claimed_at = ${after(-LEASE_S - 1)}`;
    const [taken] = await claim('p/1', 10);
    expect(taken?.number).toBe(2);
    expect(await readAttempts(sql, String(taken?.id))).toMatchObject([{ number: 1, outcome: 'desconhecido' }]);
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
    await claim('dead/1', 10);
    await sql`update deliveries set attempts = 10, failures = 5, lost_in_row = 4`;
    expect(await claim('alive/1', 10, after(LEASE_S + 1))).toEqual([]);
    expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'erro', failures: 6, nextAttemptAt: null }]);
  });

  test('suspends the due deliveries of a deactivated webhook instead of sending them', async () => {
    await commitEvents(sql, partnerId, 3);
    await claim('dead/1', 1);
    await sql`update webhooks set active = false`;
    expect(await claim('p/1', 10, after(LEASE_S + 1))).toEqual([]);
    const rows = await readDeliveries(sql, webhookId);
    expect(rows.map((row) => row.status)).toEqual(['suspensa', 'suspensa', 'suspensa']);
    const [lost] = await sql`select count(*)::int as n from attempts where outcome = 'desconhecido'`;
    expect(lost).toEqual({ n: 1 });
  });

  test('is undone by a release, which gives the attempt its number back', async () => {
    await commitEvents(sql, partnerId, 9);
    await claim('doubtful/1', 100);
    expect(await pool.transaction((tx) => releaseClaim(tx, 'doubtful/1', start))).toBe(8);
    const again = await claim('p/2', 100);
    expect(again.map((delivery) => delivery.number)).toEqual(Array.from({ length: 8 }, () => 1));
    expect(await sql`select from attempts`).toHaveLength(0);
  });

  test('is released without waiting for a delivery that somebody else has locked, whose turn comes at the next try', async () => {
    await commitEvents(sql, partnerId, 1);
    await claim('doubtful/1', 10);
    const release = () =>
      pool.transaction(async (tx) => {
        await tx`set local lock_timeout = '100ms'`;
        return releaseClaim(tx, 'doubtful/1', start);
      });
    await sql.begin(async (tx) => {
      await tx`select from deliveries for update`;
      expect(await release()).toBe(0);
    });
    expect(await release()).toBe(1);
  });

  test('never waits for a record that holds the delivery or the lane', async () => {
    await commitEvents(sql, partnerId, 2);
    await armLanes(sql, start);
    await sql.begin(async (tx) => {
      await tx`select from deliveries order by id limit 1 for update`;
      expect(await claim('p/1', 10)).toHaveLength(1);
      await tx`select from lanes for update`;
      expect(await claim('p/2', 10)).toEqual([]);
    });
  });
});

describe('the cap', () => {
  test('is what the operator set, and raising it wakes a saturated lane at once', async () => {
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

describe('the sweep', () => {
  test('finds nothing to mend after ordinary work', async () => {
    await commitEvents(sql, partnerId, 9);
    await claim('p/1', 4);
    expect(await sweepLanes(sql, null, after(40))).toEqual({ stranded: 0, cursor: null });
  });

  test('finds what lies before the mark of its lane', async () => {
    await commitEvents(sql, partnerId, 1);
    await armLanes(sql, start);
    await sql`update lanes set scan_from = ${after(20)}, next_due_at = ${after(3_600)}`;
    expect(await sweepLanes(sql, null, after(40))).toMatchObject({ stranded: 1 });
    expect(await claim('p/1', 10, after(40))).toHaveLength(1);
  });

  test('re-arms a lane that lost its wake-up', async () => {
    await commitEvents(sql, partnerId, 1);
    await sql`delete from arrivals`;
    expect(await claim('p/1', 10)).toEqual([]);
    expect(await sweepLanes(sql, null, after(40))).toMatchObject({ stranded: 1 });
    expect(await claim('p/2', 10, after(40))).toHaveLength(1);
  });

  test('leaves alone a webhook whose URL waits a minute for its next try', async () => {
    await commitEvents(sql, partnerId, 2);
    await sql`update webhooks set refusals = 10, quiet_until = ${after(60)}`;
    expect(await claim('p/1', 10, after(1))).toEqual([]);
    expect(await sweepLanes(sql, null, after(40))).toMatchObject({ stranded: 0 });

    await sql`update lanes set next_due_at = ${after(3_600)}`;
    expect(await sweepLanes(sql, null, after(80))).toMatchObject({ stranded: 0 });
    expect(await sweepLanes(sql, null, after(100))).toMatchObject({ stranded: 1 });
  });

  test('re-arms a saturated lane that nothing is in flight of, and leaves alone one that waits for what is', async () => {
    await commitEvents(sql, partnerId, 12);
    await claim('p/1', 10);
    expect(await sql`select from lanes where saturated`).toHaveLength(1);
    await sql`update deliveries set claimed_at = ${after(39)} where claimed_by is not null`;
    await sql`update lanes set next_due_at = ${after(84)}`;
    expect(await sweepLanes(sql, null, after(40))).toMatchObject({ stranded: 0 });

    await sql`
      update deliveries
      set status = 'entregue', claimed_by = null, claimed_at = null, next_attempt_at = null, finished_at = now()
      where claimed_by is not null`;
    expect(await sweepLanes(sql, null, after(40))).toMatchObject({ stranded: 1 });
    expect(await claim('p/2', 10, after(40))).toHaveLength(4);
  });
});
