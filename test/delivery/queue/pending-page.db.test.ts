/** What the sweep finds in `pending` that a bug or a change by hand left. */
import { expect, test } from 'vitest';
import { checkPage } from '../../../src/delivery/queue/maintenance/pending-page.ts';
import { Sweeper } from '../../../src/delivery/queue/maintenance/sweep.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertSubscriber } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';
import { pollLanes } from '../../support/poll.ts';

const { pool, sql } = await createTestDatabase();

test('a row of pending whose delivery is over is deleted and counted, and nothing else is', async () => {
  const { partnerId, id } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 5);
  await sql`alter table deliveries disable trigger deliveries_keep_pending`;
  await sql`
    update deliveries set status = 'entregue', attempts = 1, next_attempt_at = null, finished_at = now()
    where webhook_id = ${id} and id = (select max(id::text)::uuid from deliveries)`;
  await sql`alter table deliveries enable trigger deliveries_keep_pending`;
  let counted = 0;
  let nowMs = 0;
  const metrics = { countOrphaned: (rows: number) => (counted += rows) };
  const sweeper = new Sweeper({ pool, log: silentLog, monotonicMs: () => nowMs, now: () => null, metrics });
  nowMs = 30_000;
  await sweeper.sweepNowAndThen();
  expect(counted).toBe(1);
  expect(await sql`select from pending`).toHaveLength(4);
  expect(await pollLanes(pool, 'p/1', 10, new Date(Date.now() + 1_000))).toHaveLength(4);
});

test('page by page it comes by every row', async () => {
  const look = (from: string | null) => pool.transaction((tx) => checkPage(tx, from, 3));
  const first = await look(null);
  expect(first).toMatchObject({ orphaned: 0, next: '(0,3)' });
  expect(await look(first.next)).toMatchObject({ orphaned: 0, next: null });
});

test('a lane of which something has been due for a minute, and nothing flies, is read again; a younger one is not', async () => {
  const { partnerId, id } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 1);
  await sql`insert into keepers (name) values ('k')`;
  await sql`update lanes set keeper = 'k', changed = false where webhook_id = ${id}`;
  const wake = async () => (await pool.transaction((tx) => checkPage(tx, null, 100))).woken;
  expect(await wake()).toBe(0);
  await sql`update deliveries set next_attempt_at = now() - interval '2 minutes' where webhook_id = ${id}`;
  expect(await wake()).toBe(1);
  expect(await sql`select changed from lanes where webhook_id = ${id}`).toEqual([{ changed: true }]);
});
