import { beforeEach, describe, expect, test } from 'vitest';
import { Pool, type Tx } from '../../../src/db/pool.ts';
import { armLanes, waitForWork } from '../../support/arm-lanes.ts';
import { claimDue } from '../../support/claim-due.ts';
import { setCap } from '../../../src/delivery/queue/orders/cap.ts';
import { muteLane, wakeLane } from '../../../src/delivery/queue/orders/mute.ts';
import { DUE_FROM_EVER, DueMark, readDueMark } from '../../../src/delivery/queue/upkeep/due-mark.ts';
import { silentLog } from '../../support/silent-log.ts';
import { startCounting } from '../../support/counters.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';
import { openPool } from '../../support/database.ts';

/** How often the lane changes while a snapshot is held open. */
const CHANGES = 2_000;

/** One session: what it remembers is its own. */
let pool: Pool;

const { database, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  const settings = { enable_seqscan: 'off', enable_bitmapscan: 'off' };
  pool = openPool(database.url, { name: 'lanes test', settings });
});

/** A turn of a poller; returns how many deliveries it claimed. */
async function turn(dueFrom = DUE_FROM_EVER): Promise<number> {
  await pool.run((sql) => armLanes(sql, null));
  return (await pool.transaction((tx: Tx) => claimDue(tx, 'p/1', 100, null, dueFrom))).deliveries.length;
}

test('every webhook is born with one lane, and nobody else makes any', async () => {
  const lanes = await database.sql`select webhook_id as id, next_due_at as due from lanes`;
  expect(lanes).toEqual([{ id: webhookId, due: null }]);
});

describe('the mark before which no lane is due', () => {
  test('is read anew every second, and from the first lane on every half minute', async () => {
    let atMs = 0;
    const mark = new DueMark({ pool, log: silentLog, monotonicMs: () => atMs, now: () => null });
    const at = async (ms: number) => {
      atMs = ms;
      mark.get();
      await mark.settled();
      return mark.get();
    };
    expect(mark.get()).toBe(DUE_FROM_EVER);
    const first = await at(0);
    expect(Date.parse(first)).toBeLessThan(Date.now());
    expect(await at(999)).toBe(first);
    const second = await at(1_000);
    expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));

    await database.sql`update lanes set next_due_at = '2020-01-01'`;
    expect(Date.parse(await at(29_900))).toBeGreaterThan(Date.parse(second));
    expect(Date.parse(await at(30_900))).toBe(Date.parse('2020-01-01T00:00:00Z'));
  });

  test('is unknown at the times that tests choose, and forgotten when the database is away', async () => {
    let atMs = 0;
    const deps = { log: silentLog, monotonicMs: () => (atMs += 2_000) };
    const frozen = new DueMark({ ...deps, pool, now: () => new Date() });
    frozen.get();
    await frozen.settled();
    expect(frozen.get()).toBe(DUE_FROM_EVER);

    const lost = new Pool({ url: database.url, name: 'lost', max: 1, deadlineMs: 2_000 });
    const mark = new DueMark({ ...deps, pool: lost, now: () => null });
    mark.get();
    await mark.settled();
    await lost.close();
    expect(mark.get()).not.toBe(DUE_FROM_EVER);
    await mark.settled();
    expect(mark.get()).toBe(DUE_FROM_EVER);
    await mark.settled();
  });

  test('is not passed by a transaction that was open for longer than the mark is old, and then makes a lane due', async () => {
    const [{ id }] = await database.sql<[{ id: string }]>`select webhook_id as id from lanes limit 1`;
    const changes: ((tx: Tx) => Promise<unknown>)[] = [
      (tx) => setCap(tx, id, 9),
      async (tx) => (await muteLane(tx, id)) && wakeLane(tx, id),
      (tx) =>
        tx`select change_failing(${id}, 'falhando', now(), 'test'), change_failing(${id}, 'fim_da_falha', now(), 'test')`,
    ];
    for (const change of changes) {
      const isLater = await pool.transaction(async (tx) => {
        const [{ at }] = await tx<[{ at: string }]>`select clock_timestamp()::text as at`;
        await change(tx);
        const [lane] = await tx<{ isLater: boolean }[]>`
          select next_due_at > ${at}::text::timestamptz as "isLater" from lanes where webhook_id = ${id}`;
        return lane?.isLater;
      });
      expect(isLater).toBe(true);
    }
  });

  test('is where a claim and who waits for work begin to look', async () => {
    await database.sql`update lanes set next_due_at = now() - interval '1 hour'`;
    const look = async (dueFrom: string) => {
      const [row] = await pool.run((sql) => waitForWork(sql, { ms: 0, napMs: 0 }, null, dueFrom));
      return row;
    };
    const later = new Date(Date.now() - 60_000).toISOString();
    expect(await look(later)).toEqual({ wait_for_work: false });
    expect(await look(DUE_FROM_EVER)).toEqual({ wait_for_work: true });
    await turn(later);
    expect(await look(DUE_FROM_EVER)).toEqual({ wait_for_work: true });
    await turn(DUE_FROM_EVER);
    expect(await look(DUE_FROM_EVER)).toEqual({ wait_for_work: false });
  });
});

test('a turn steps over none of the versions of its lanes that a snapshot held open keeps', async () => {
  const { promise: isOver, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  await commitEvents(database.sql, partnerId, 1);
  await turn();
  const holding = database.sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select from lanes`;
    hold();
    await isOver;
  });
  await isHeld;
  await database.sql.unsafe(`
    do $$ begin
      for change in 1..${CHANGES} loop
        update lanes set version = version + 1, next_due_at = now() - interval '1 hour' + change * interval '1 second'
        where ctid = (select ctid from lanes where webhook_id = '${webhookId}' order by version desc limit 1);
      end loop;
      update lanes set version = version + 1, next_due_at = null;
    end $$`);
  const mark = await pool.run((sql) => readDueMark(sql, DUE_FROM_EVER));
  const counting = await startCounting(database.url, pool);
  await commitEvents(database.sql, partnerId, 1);
  expect(await turn(mark)).toBe(1);
  const { entries } = await counting.of('lanes');
  letGo();
  await holding;
  expect(entries).toBeGreaterThan(0);
  expect(entries).toBeLessThan(CHANGES / 20);
});
