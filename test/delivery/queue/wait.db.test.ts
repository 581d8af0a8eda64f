import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Pool, Sql, Tx } from '../../../src/db/pool.ts';
import { Rhythm } from '../../../src/delivery/poller/rhythm.ts';
import { freeSlots, type Patience } from '../../../src/delivery/queue/arrivals.ts';
import { armLanes, waitForWork } from '../../support/arm-lanes.ts';
import { takeTurn, waitBehindOthers } from '../../../src/delivery/queue/claim.ts';
import { claimDue } from '../../support/claim-due.ts';
import { POLLER_DEADLINE_MS } from '../../../src/main/service/service.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents, insertWebhook } from '../../support/outbox.ts';
import { openPool } from '../../support/database.ts';

const LOOK_ONCE = { ms: 0, napMs: 0 };

/** One session: what it has taken is its own memory. */
let pool: Pool;

const { database, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  pool = openPool(database.url, { name: 'wait test' });
});

/** Ends what a failed test has left open. */
const endings: (() => void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) end();
  await cancelWaiting();
});

async function hasWork(): Promise<unknown> {
  const [row] = await pool.run((sql) => waitForWork(sql, LOOK_ONCE, null));
  return row;
}

/** A turn of a poller: what is claimed of the one lane leaves nothing due, and saturates it if there is enough. */
async function turn(): Promise<number> {
  await pool.run((sql) => armLanes(sql, null));
  return (await pool.transaction((tx: Tx) => claimDue(tx, 'p/1', 100))).deliveries.length;
}

/** Longer than a test may take, at the end of which it is told that there is no work. */
const SLEEP = { ms: 600_000, napMs: 600_000 };

/** One event in a transaction that ends when told so. */
function appendSlowly(): Record<'appended' | 'ended', Promise<void>> & Record<'commit' | 'rollBack', () => void> {
  const { promise: mayEnd, resolve: commit, reject } = Promise.withResolvers<void>();
  const { promise: appended, resolve: tellAppended } = Promise.withResolvers<void>();
  const rolledBack = new Error('rolled back');
  const transaction = database.sql.begin(async (tx) => {
    await commitEvents(tx as unknown as Sql, partnerId, 1);
    tellAppended();
    await mayEnd;
  });
  const ended = transaction.then(
    () => undefined,
    (error: Error) => {
      if (error !== rolledBack) throw error;
    },
  );
  endings.push(commit);
  return { appended, ended, commit, rollBack: () => reject(rolledBack) };
}

/** Who is at which of the two locks: those who append, and the poller that waits for them. */
async function locks(): Promise<string[]> {
  const rows = await database.sql<{ name: string; mode: string; granted: boolean }[]>`
    select case objid when (advisory_lock('appending') & 4294967295)::oid then 'appending' when (advisory_lock('awaiting') & 4294967295)::oid then 'awaiting' end as name,
           mode, granted
    from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory'
    order by name, mode`;
  return rows.map(({ name, mode, granted }) => `${name}: ${mode} ${granted ? 'held' : 'awaited'}`);
}

async function sleepers(): Promise<number> {
  const rows = await database.sql`
    select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
  return rows.length;
}

async function cancelWaiting(): Promise<void> {
  await database.sql`
    select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and state = 'active' and query like '%wait_for_work%' and pid <> pg_backend_pid()`;
}

async function cancel(idle: Promise<unknown>): Promise<void> {
  await Promise.all([expect(idle).rejects.toThrow('canceling statement'), cancelWaiting()]);
}

const APPENDING = 'appending: ShareLock held';
const AWAITED = ['appending: ExclusiveLock awaited', APPENDING, 'awaiting: ExclusiveLock held'];

const WORK = { wait_for_work: true };
const NONE = { wait_for_work: false };

describe('an idle poller', () => {
  test('finds what was appended, until it has claimed it', async () => {
    expect(await hasWork()).toEqual(NONE);
    await commitEvents(database.sql, partnerId, 1);
    expect(await hasWork()).toEqual(WORK);
    expect(await turn()).toBe(1);
    expect(await hasWork()).toEqual(NONE);
  });

  test('behind others takes what has waited, of what arrived and of what is due, and leaves them the rest', async () => {
    const behind = async (afterMs: number) => {
      const now = new Date(Date.now() + afterMs);
      if (!(await pool.run((sql) => waitBehindOthers(sql, { ms: 0, napMs: 0, lagMs: 60_000 }, now)))) return 0;
      return (await pool.transaction((tx) => takeTurn(tx, `behind/${afterMs}`, 100, now))).deliveries.length;
    };
    await commitEvents(database.sql, partnerId, 1);
    expect(await behind(30_000)).toBe(0);
    expect(await behind(90_000)).toBe(1);
    await commitEvents(database.sql, partnerId, 7);
    await pool.run((sql) => armLanes(sql, null));
    expect(await behind(30_000)).toBe(0);
    expect(await behind(90_000)).toBe(7);
  });

  test('behind others finds a slot that came free for a lane that sleeps until then, though another lane was told of one before', async () => {
    await commitEvents(database.sql, partnerId, 8);
    await turn();
    const { id: other } = await insertWebhook(database.sql, partnerId, 'https://other.example/');
    for (const id of [other, webhookId]) await freeSlots(database.sql, [{ webhookId: id, partnerId }]);
    const find = (patience: Patience) => pool.run((sql) => waitBehindOthers(sql, patience));
    expect(await find({ ms: 60_000, napMs: 1, lagMs: 1 })).toBe(true);
    // While a partner has its share, its waits are shorter than the lag.
    expect(await find(new Rhythm().patience(true, 1))).toBe(true);
    await database.sql`delete from arrivals where webhook_id = ${webhookId}`;
    expect(await find({ ms: 20, napMs: 1, lagMs: 1 })).toBe(false);
  });

  test('finds what began before its last look and commits after it', async () => {
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
    const { promise: inserted, resolve: insert } = Promise.withResolvers<void>();
    const late = database.pool.transaction(async (tx) => {
      await tx`
        insert into arrivals (webhook_id, partner_id, kind, due_at) values (${webhookId}, ${partnerId}, 'due', now())`;
      insert();
      await mayCommit;
    });
    await inserted;
    await commitEvents(database.sql, partnerId, 1);
    expect(await turn()).toBe(1);
    expect(await hasWork()).toEqual(NONE);
    commit();
    await late;
    expect(await hasWork()).toEqual(WORK);
  });

  test('finds a lane that comes due while it waits, though nothing is committed meanwhile', async () => {
    await database.sql`update lanes set next_due_at = clock_timestamp() + interval '0.2 s'`;
    const [found] = await pool.run((sql) => waitForWork(sql, { ms: 600_000, napMs: 5 }, null));
    expect(found).toEqual(WORK);
  });

  test('is woken by a slot that came free if the lane sleeps until then, and not otherwise', async () => {
    await commitEvents(database.sql, partnerId, 7);
    await turn();
    await freeSlots(database.sql, [{ webhookId, partnerId }]);
    expect(await hasWork()).toEqual(NONE);

    await commitEvents(database.sql, partnerId, 1);
    await turn();
    expect(await hasWork()).toEqual(NONE);
    await freeSlots(database.sql, [{ webhookId, partnerId }]);
    expect(await hasWork()).toEqual(WORK);
  });

  test('takes a slot that came free before the lane went to sleep for one that wakes it', async () => {
    await commitEvents(database.sql, partnerId, 8);
    await pool.run((sql) => armLanes(sql, null));
    await freeSlots(database.sql, [{ webhookId, partnerId }]);
    expect(await hasWork()).toEqual(WORK);
    await pool.transaction((tx) => claimDue(tx, 'p/1', 100));
    expect(await hasWork()).toEqual(WORK);
  });

  test('wakes when what is being appended is committed, however long it would have slept', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const woken = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(locks).toEqual(AWAITED);
    slow.commit();
    await slow.ended;
    expect(await woken).toEqual([WORK]);
    expect(await locks()).toEqual([]);
  });

  test('keeps nobody from appending while it waits for somebody who does not commit', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const woken = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(locks).toEqual(AWAITED);
    await commitEvents(database.sql, partnerId, 1);
    expect(await locks()).toEqual(AWAITED);
    slow.commit();
    await slow.ended;
    expect(await woken).toEqual([WORK]);
  });

  test('sleeps when another one waits already', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const woken = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(locks).toEqual(AWAITED);
    const asleep = database.pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(sleepers).toBe(1);
    expect(await locks()).toEqual(AWAITED);
    slow.commit();
    await slow.ended;
    expect(await woken).toEqual([WORK]);
    await cancel(asleep);
  });

  test('takes the watch when the one that kept it has gone', async () => {
    const keeper = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(sleepers).toBe(1);
    const other = database.pool.run((sql) => waitForWork(sql, { ...SLEEP, napMs: 5 }, null).execute());
    await expect.poll(sleepers).toBe(2);
    await Promise.all([
      expect(keeper).rejects.toThrow('canceling statement'),
      database.sql`
        select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'wait test'`,
    ]);
    const slow = appendSlowly();
    await slow.appended;
    await expect.poll(locks).toContain('awaiting: ExclusiveLock held');
    slow.commit();
    await slow.ended;
    expect(await other).toEqual([WORK]);
  });

  test('is told of no work before its pool loses patience, also while another one keeps the watch', async () => {
    const keeper = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(sleepers).toBe(1);
    const rhythm = new Rhythm();
    for (let atMs = 0; atMs < 60_000; atMs += 1_000) rhythm.hear(0, 0, atMs);
    const other = openPool(database.url, { name: 'idle', deadlineMs: POLLER_DEADLINE_MS });
    expect(await other.run((sql) => waitForWork(sql, rhythm.patience(), null).execute())).toEqual([NONE]);
    await other.close();
    await cancel(keeper);
  });

  test('looks again when it would have woken, though what it waits for is not over', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const idle = pool.run((sql) => waitForWork(sql, { ...SLEEP, napMs: 100 }, null).execute());
    await expect.poll(locks).toEqual(AWAITED);
    await commitEvents(database.sql, partnerId, 1);
    expect(await idle).toEqual([WORK]);
    expect(await locks()).toEqual([APPENDING]);
    slow.commit();
    await slow.ended;
  });

  test('sleeps when what it waited for brought nothing', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const idle = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(locks).toEqual(AWAITED);
    slow.rollBack();
    await slow.ended;
    await expect.poll(sleepers).toBe(1);
    await cancel(idle);
  });

  test('keeps no lock when it is cancelled while it waits', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const idle = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(locks).toEqual(AWAITED);
    await cancel(idle);
    expect(await locks()).toEqual([APPENDING]);
    slow.commit();
    await slow.ended;
  });
});
