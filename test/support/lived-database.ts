/** A database with a history, and the checks that must hold wherever it is moved. */
import { expect } from 'vitest';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { readBalance } from '../../src/audit/balance.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { countSealable } from './count-sealable.ts';
import { rescueOverdue } from '../../src/delivery/queue/rescuer.ts';
import { claimDue } from './poll.ts';
import { FEED_START, type FeedCursor, readFeed, whereToGoOn } from '../../src/log/feed.ts';
import { startEngine } from './engine.ts';
import { commitEvents, insertPartner, insertWebhook } from './outbox.ts';
import type { Receiver } from './receiver.ts';
import { untilSettled } from './settled.ts';

export interface LivedDatabase {
  readonly partnerId: string;
  readonly webhookId: string;
}

/** Uses up transactions, so that another server's transaction count is lower. */
export async function burnTransactions(sql: Sql, count: number): Promise<void> {
  await sql.unsafe(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`);
}

/** Delivers what is due. */
export async function deliverAll(pool: Pool): Promise<void> {
  const engine = startEngine(pool, { now: () => null });
  while ((await engine.poll()) > 0);
  await engine.close();
}

/** Ends every claim, as a minute would. */
export async function endLeases(sql: Sql): Promise<void> {
  await sql`update claims set at = at - interval '1 minute'`;
  await sql.begin((tx) => rescueOverdue(tx));
}

/** A partner's webhook and 12 events: 8 delivered and sealed, 3 claimed by a poller that is gone. */
export async function live(pool: Pool, sql: Sql, receiver: Receiver): Promise<LivedDatabase> {
  const partnerId = await insertPartner(sql);
  const { id: webhookId } = await insertWebhook(sql, partnerId, `${receiver.url}/${partnerId}`);
  await sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
    select id, partner_id, url, events, active, 'test' from webhooks where id = ${webhookId}`;
  for (let count = 0; count < 2; count += 1) await commitEvents(sql, partnerId, 4);
  await deliverAll(pool);
  await untilSettled(sql);
  await sealAll(pool);
  await commitEvents(sql, partnerId, 4);
  const { deliveries } = await pool.transaction((tx) => claimDue(tx, 'gone/1', 3));
  expect(deliveries).toHaveLength(3);
  return { partnerId, webhookId };
}

export interface ReadFeed {
  readonly ids: string[];
  /** The cursor of the reader. */
  readonly cursor: FeedCursor;
}

/** Reads the feed to its end, two at a time, from a cursor on. */
export async function readOn(pool: Pool, partnerId: string, from: FeedCursor | null = null): Promise<ReadFeed> {
  const ids: string[] = [];
  let after = from;
  for (;;) {
    const { events, next, hasMore } = await readFeed(pool, { partnerId, event: null, after, limit: 2, history: false });
    ids.push(...events.map(({ id }) => id));
    after = next;
    if (!hasMore) return { ids, cursor: after ?? FEED_START };
  }
}

/** Checks the database on the server where it goes on; `before` is the feed as a partner had read it before. */
export async function expectToGoOn(pool: Pool, sql: Sql, lived: LivedDatabase, before: ReadFeed): Promise<void> {
  const { partnerId } = lived;
  await commitEvents(sql, partnerId, 5);
  await untilSettled(sql);
  const log = await sql<{ id: string }[]>`select id from events where partner_id = ${partnerId} order by id`;
  const all = await readOn(pool, partnerId);
  expect(all.ids.toSorted()).toEqual(log.map(({ id }) => id));
  expect(all.ids.slice(0, before.ids.length)).toEqual(before.ids);
  expect(await whereToGoOn(pool, partnerId, before.cursor)).toBeNull();
  expect((await readOn(pool, partnerId, before.cursor)).ids).toEqual(all.ids.slice(before.ids.length));

  await deliverAll(pool);
  const statuses = await sql`select status, count(*)::int from deliveries group by status`;
  expect(statuses).toEqual([{ status: 'entregue', count: log.length }]);

  await untilSettled(sql);
  await sealAll(pool);
  const rows = await countSealable(sql);
  expect(await verifySeals(pool)).toMatchObject({ rows, findings: [] });
  const [{ from, to }] = await sql<[{ from: string; to: string }]>`
    select (min(occurred_at) - interval '1 day')::date::text as from, (now() + interval '1 day')::date::text as to from events`;
  expect(await addUp(readBalance(pool, from, to), from, to, 10)).toMatchObject({ fecha: true });
}
