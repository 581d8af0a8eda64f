import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Pool, type Sql, type Tx } from '../../src/db/pool.ts';
import { armLanes, freePlaces, waitForWork } from '../../src/delivery/arrivals.ts';
import { claimDue } from '../../src/delivery/claim.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';

const LOOK_ONCE = { ms: 0, napMs: 0 };

let database: TestDatabase;
/** One session: what it has taken is its own memory. */
let pool: Pool;
let partnerId: string;
let webhookId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Pool({ url: database.url, name: 'wait test', max: 1, deadlineMs: 20_000 });
});
afterAll(async () => {
  await pool.close();
  await database.drop();
});
beforeEach(async () => {
  await database.sql`truncate partners, webhooks, webhook_history, events, messages, deliveries, arrivals, lanes, attempts cascade`;
  partnerId = await insertPartner(database.sql);
  webhookId = (await insertWebhook(database.sql, partnerId, 'https://partner.example/')).id;
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
const SLEEP = { ms: 15_000, napMs: 15_000 };

/** Resolves when the event is appended; commits when told so. */
function appendSlowly(): { appended: Promise<void>; commit: () => void; committed: Promise<void> } {
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: appended, resolve: tellAppended } = Promise.withResolvers<void>();
  const committed = database.sql.begin(async (tx) => {
    await commitEvents(tx as unknown as Sql, partnerId, 1);
    tellAppended();
    await mayCommit;
  });
  return { appended, commit, committed: committed.then(() => undefined) };
}

async function locks(): Promise<string[]> {
  const rows = await database.sql<{ mode: string; granted: boolean }[]>`
    select mode, granted from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory' order by mode`;
  return rows.map(({ mode, granted }) => `${mode}, ${granted ? 'held' : 'awaited'}`);
}

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

  test('finds what began before its last look and commits after it', async () => {
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
    const { promise: inserted, resolve: insert } = Promise.withResolvers<void>();
    const late = database.pool.transaction(async (tx) => {
      await tx`insert into arrivals (webhook_id) values (${webhookId})`;
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

  test('is woken by a place that came free if the lane sleeps until then, and not otherwise', async () => {
    await commitEvents(database.sql, partnerId, 7);
    await turn();
    await freePlaces(database.sql, [webhookId]);
    expect(await hasWork()).toEqual(NONE);

    await commitEvents(database.sql, partnerId, 1);
    await turn();
    expect(await hasWork()).toEqual(NONE);
    await freePlaces(database.sql, [webhookId]);
    expect(await hasWork()).toEqual(WORK);
  });

  test('takes a place that came free before the lane went to sleep for one that wakes it', async () => {
    await commitEvents(database.sql, partnerId, 8);
    await pool.run((sql) => armLanes(sql, null));
    await freePlaces(database.sql, [webhookId]);
    expect(await hasWork()).toEqual(WORK);
    await pool.transaction((tx) => claimDue(tx, 'p/1', 100));
    expect(await hasWork()).toEqual(WORK);
  });

  test('wakes when what is being appended is committed, however long it would have slept', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const woken = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(locks).toEqual(['ExclusiveLock, awaited', 'ShareLock, held']);
    slow.commit();
    await slow.committed;
    expect(await woken).toEqual([WORK]);
    expect(await locks()).toEqual([]);
  });

  test('keeps nobody from appending while it waits for somebody who does not commit', async () => {
    const slow = appendSlowly();
    await slow.appended;
    const woken = pool.run((sql) => waitForWork(sql, SLEEP, null).execute());
    await expect.poll(locks).toEqual(['ExclusiveLock, awaited', 'ShareLock, held']);
    await commitEvents(database.sql, partnerId, 1);
    expect(await locks()).toEqual(['ExclusiveLock, awaited', 'ShareLock, held']);
    slow.commit();
    await slow.committed;
    expect(await woken).toEqual([WORK]);
  });

  test('waits for an append no longer than it would have slept, and keeps no lock of it', async () => {
    const slow = appendSlowly();
    await slow.appended;
    expect(await pool.run((sql) => waitForWork(sql, { ms: 50, napMs: 1 }, null))).toEqual([NONE]);
    await commitEvents(database.sql, partnerId, 1);
    expect(await hasWork()).toEqual(WORK);
    expect(await locks()).toEqual(['ShareLock, held']);
    slow.commit();
    await slow.committed;
  });
});
