import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Pool, type Tx } from '../../src/db/pool.ts';
import { armLanes } from '../../src/delivery/arrivals.ts';
import { claimDue } from '../../src/delivery/claim.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';

/** How often the lane changes while a snapshot is held open. */
const CHANGES = 2_000;

let database: TestDatabase;
/** One session: what it remembers is its own. */
let pool: Pool;
let partnerId: string;
let webhookId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const settings = { enable_seqscan: 'off', enable_bitmapscan: 'off' };
  pool = new Pool({ url: database.url, name: 'lanes test', max: 1, deadlineMs: 20_000, settings });
});
afterAll(async () => {
  await pool.close();
  await database.drop();
});
beforeEach(async () => {
  await database.sql`truncate partners, webhooks, webhook_history, events, messages, deliveries, arrivals, lanes, lane_keys, attempts cascade`;
  await pool.run((sql) => sql`select set_config('carteiro.due_from', '', false)`);
  partnerId = await insertPartner(database.sql);
  webhookId = (await insertWebhook(database.sql, partnerId, 'https://partner.example/')).id;
});

/** A turn of a poller; returns how many deliveries it claimed. */
async function turn(): Promise<number> {
  await pool.run((sql) => armLanes(sql, null));
  return (await pool.transaction((tx: Tx) => claimDue(tx, 'p/1', 100))).deliveries.length;
}

async function readMark(): Promise<unknown> {
  const [row] = await pool.run(
    (sql) => sql<[{ until: string }]>`
      select (current_setting('carteiro.due_from')::timestamptz[])[2]::text as until, lanes_due_from() > '-infinity' as "isTrusted"`,
  );
  return row;
}

describe('what a session remembers of when lanes are due', () => {
  test('is trusted for a while that no claim makes longer, and then not at all', async () => {
    await turn();
    const first = await readMark();
    expect(first).toMatchObject({ isTrusted: true });
    await turn();
    expect(await readMark()).toEqual(first);

    await commitEvents(database.sql, partnerId, 1);
    const mistaken = (until: string) =>
      pool.run(
        (sql) => sql`
      select set_config('carteiro.due_from', array['infinity', now() + ${until}::interval]::text, false)`,
      );
    await mistaken('1 minute');
    expect(await turn()).toBe(0);
    await mistaken('-1 second');
    expect(await turn()).toBe(1);
  });

  test('is not what a claim at another time goes by', async () => {
    await turn();
    await commitEvents(database.sql, partnerId, 1);
    await pool.run((sql) => armLanes(sql, null));
    await database.sql`update lanes set next_due_at = now() - interval '1 day'`;
    const { deliveries } = await pool.transaction((tx) => claimDue(tx, 'p/1', 100, new Date(Date.now() + 1_000)));
    expect(deliveries).toHaveLength(1);
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
  await turn();
  const before = await readReads();
  await commitEvents(database.sql, partnerId, 1);
  expect(await turn()).toBe(1);
  const after = await readReads();
  letGo();
  await holding;
  expect(after - before).toBeGreaterThan(0);
  expect(after - before).toBeLessThan(CHANGES / 20);

  /** Entries of the lanes' indexes that were looked at so far. */
  async function readReads(): Promise<number> {
    await pool.run((sql) => sql`select pg_stat_force_next_flush()`);
    const [row] = await pool.run(
      (sql) => sql<[{ entries: number }]>`
        select sum(idx_tup_read)::int as entries from pg_stat_user_indexes where relname = 'lanes'`,
    );
    return row.entries;
  }
});
