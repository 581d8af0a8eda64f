/** A lane that hangs with more to send delays no poll of the others: only the record of a full lane is waited for. */
import { expect, test, vi } from 'vitest';
import { OwnRecords } from '../../../src/delivery/poller/own-records.ts';
import { createTestDatabase } from '../../support/database.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { startHeldPoller } from '../../support/held-poller.ts';
import { commitEvents, insertSubscriber } from '../../support/outbox.ts';

const { pool, sql } = await createTestDatabase();

test('polls hear of the record of a lane that was full, and of no other', async () => {
  const heard = vi.spyOn(OwnRecords.prototype, 'observe');
  const { partnerId } = await insertSubscriber(sql);
  await sql`update webhooks set refusals = null`;
  const poller = startHeldPoller(pool, 'one', 64, Date.now() + 60_000);
  await commitEvents(sql, partnerId, 7);
  await poller.fill();
  expect(poller.flying()).toBe(7);
  await poller.end(DELIVERED);
  expect(heard).not.toHaveBeenCalled();
  await commitEvents(sql, partnerId, 8);
  await poller.fill();
  expect(poller.flying()).toBe(8);
  await poller.end(DELIVERED);
  expect(heard).toHaveBeenCalled();
});
