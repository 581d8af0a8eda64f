/** How a poller waits for work in the server: what it finds, what wakes it, and that it stands in nobody's way. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Pool, Sql } from '../../../src/db/pool.ts';
import { PollBackoff } from '../../../src/delivery/poller/poll-backoff.ts';
import type { PollWait } from '../../../src/delivery/queue/claim.ts';
import { POLLER_DEADLINE_MS } from '../../../src/main/service/service.ts';
import { openPool } from '../../support/database.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';

const POLL_ONCE = { ms: 0, pollIntervalMs: 0 };
/** Longer than a test may take, at the end of which it is told that there is no work. */
const SLEEP = { ms: 600_000, pollIntervalMs: 600_000 };

let pool: Pool;
/** The snapshot up to which the poller has followed. */
let seen: string;

const { database, partnerId, webhookId } = await useOneWebhook();
beforeEach(async () => {
  pool = openPool(database.url, { name: 'wait test' });
  await follow();
});

/** Ends what a failed test has left open. */
const endings: (() => void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) end();
  await cancelWaiting();
});

async function follow(): Promise<void> {
  const [row] = await database.sql<[{ seen: string }]>`select pg_current_snapshot()::text as seen`;
  seen = row.seen;
}

/** Whether poller `p`, which has followed up to `seen`, finds something new. */
async function findsWork(
  { ms, pollIntervalMs }: PollWait = POLL_ONCE,
  wakeAt: Date | null = null,
  by = pool,
): Promise<boolean> {
  const [row] = await by.run(
    (sql) => sql<[{ reported: string | null }]>`
      select wait_for_work('p', null, pg_snapshot_xmax(s), array(select pg_snapshot_xip(s)), ${wakeAt}::timestamptz, ${ms}::float8, ${pollIntervalMs}::float8) as reported
      from (select ${seen}::text::pg_snapshot as s) seen`,
  );
  return row.reported === null;
}

/** One event in a transaction that ends when told so. */
function appendSlowly(): Record<'appended' | 'ended', Promise<void>> & Record<'commit' | 'rollBack', () => void> {
  const { promise: mayEnd, resolve: commit, reject } = Promise.withResolvers<void>();
  const { promise: appended, resolve: notifyAppended } = Promise.withResolvers<void>();
  const rolledBack = new Error('rolled back');
  const transaction = database.sql.begin(async (tx) => {
    await commitEvents(tx as unknown as Sql, partnerId, 1);
    notifyAppended();
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

/** Who is at the lock of those who append. */
async function locks(): Promise<string[]> {
  const rows = await database.sql<{ mode: string; granted: boolean }[]>`
    select mode, granted
    from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory' and objid = (advisory_lock('appending') & 4294967295)::oid
    order by mode`;
  return rows.map(({ mode, granted }) => `${mode} ${granted ? 'held' : 'awaited'}`);
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

const APPENDING = 'ShareLock held';
const AWAITED = ['ExclusiveLock awaited', APPENDING];

describe('an idle poller', () => {
  test('finds what was appended since its snapshot, and nothing that it has followed', async () => {
    expect(await findsWork()).toBe(false);
    await commitEvents(database.sql, partnerId, 1);
    expect(await findsWork()).toBe(true);
    await follow();
    expect(await findsWork()).toBe(false);
  });

  test('finds what began before its snapshot and commits after it', async () => {
    const slow = appendSlowly();
    await slow.appended;
    await commitEvents(database.sql, partnerId, 1);
    await follow();
    expect(await findsWork()).toBe(false);
    slow.commit();
    await slow.ended;
    expect(await findsWork()).toBe(true);
  });

  test('is told when what it knows of comes due, though nothing is committed meanwhile', async () => {
    const [{ at }] = await database.sql<[{ at: Date }]>`select clock_timestamp() + interval '0.2 s' as at`;
    expect(await findsWork({ ms: 600_000, pollIntervalMs: 5 }, at)).toBe(false);
    const [row] = await database.sql<
      [{ isLater: boolean }]
    >`select clock_timestamp() >= ${at}::timestamptz as "isLater"`;
    expect(row.isLater).toBe(true);
  });

  test('is told of a change of a lane that it keeps', async () => {
    await database.sql`update lanes set keeper = 'p'`;
    const waiting = findsWork({ ms: 600_000, pollIntervalMs: 5 });
    await expect.poll(sleepers).toBe(1);
    await database.sql`update webhooks set url = 'https://other.example/' where id = ${webhookId}`;
    expect(await waiting).toBe(false);
  });

  test('wakes when what is being appended is committed, however long it would have slept', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const woken = findsWork(SLEEP);
    await expect.poll(locks).toEqual(AWAITED);
    slow.commit();
    await slow.ended;
    expect(await woken).toBe(true);
    expect(await locks()).toEqual([]);
  });

  test('keeps nobody from appending while it waits for somebody who does not commit', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const woken = findsWork(SLEEP);
    await expect.poll(locks).toEqual(AWAITED);
    await commitEvents(database.sql, partnerId, 1);
    expect(await locks()).toEqual(AWAITED);
    slow.commit();
    await slow.ended;
    expect(await woken).toBe(true);
  });

  test('wakes beside another one that waits for the same append', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const both = [findsWork(SLEEP), findsWork(SLEEP, null, database.pool)];
    await expect.poll(locks).toEqual(['ExclusiveLock awaited', ...AWAITED]);
    slow.commit();
    await slow.ended;
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(await locks()).toEqual([]);
  });

  test('is told of no work before its pool loses patience', async () => {
    const backoff = new PollBackoff();
    for (let atMs = 0; atMs < 60_000; atMs += 1_000) backoff.observe(0, 0, atMs);
    const other = openPool(database.url, { name: 'idle', deadlineMs: POLLER_DEADLINE_MS });
    expect(await findsWork(backoff.pollWait(), null, other)).toBe(false);
  });

  test('looks again when it would have woken, though what it waits for is not over', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const idle = findsWork({ ...SLEEP, pollIntervalMs: 100 });
    await expect.poll(locks).toEqual(AWAITED);
    await commitEvents(database.sql, partnerId, 1);
    expect(await idle).toBe(true);
    expect(await locks()).toEqual([APPENDING]);
    slow.commit();
    await slow.ended;
  });

  test('sleeps when what it waited for brought nothing', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const idle = findsWork(SLEEP);
    await expect.poll(locks).toEqual(AWAITED);
    slow.rollBack();
    await slow.ended;
    await expect.poll(sleepers).toBe(1);
    await cancel(idle);
  });

  test('keeps no lock when it is cancelled while it waits', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const idle = findsWork(SLEEP);
    await expect.poll(locks).toEqual(AWAITED);
    await cancel(idle);
    expect(await locks()).toEqual([APPENDING]);
    slow.commit();
    await slow.ended;
  });
});
