/** A poller all of whose slots hang leaves its other lanes to those that can serve them, and stays one of the living. */
import { expect, test } from 'vitest';
import { Poller } from '../../../src/delivery/poller/poller.ts';
import type { Sender } from '../../../src/delivery/sending/send.ts';
import { createTestDatabase } from '../../support/database.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { commitEvents, insertSubscriber, openTestSecret } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';

const { pool, sql } = await createTestDatabase();
const SLOTS = 8;

function startPoller(name: string, send: Sender['send']): Poller {
  return new Poller({
    pool,
    sender: { send },
    openSecret: openTestSecret,
    log: silentLog,
    name,
    capacity: SLOTS,
    monotonicMs: () => performance.now(),
  });
}

test('what a full poller keeps of others is sent by another, and its lane goes with it', async () => {
  const hanging = await insertSubscriber(sql);
  const healthy = await insertSubscriber(sql);
  await commitEvents(sql, hanging.partnerId, 2 * SLOTS);
  const isFull = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  let open = 0;
  const full = startPoller('full', async () => {
    if ((open += 1) === SLOTS) isFull.resolve();
    await end.promise;
    return DELIVERED;
  });
  const arrived = Promise.withResolvers<void>();
  const free = startPoller('free', () => {
    arrived.resolve();
    return Promise.resolve(DELIVERED);
  });
  const running = [full.run()];
  await isFull.promise;
  expect(await sql`select distinct keeper from lanes`).toEqual([{ keeper: 'full' }]);
  running.push(free.run());
  await commitEvents(sql, healthy.partnerId, 1);
  await arrived.promise;
  expect(await sql`select keeper from lanes where webhook_id = ${healthy.id}`).toEqual([{ keeper: 'free' }]);
  // It was never taken for frozen: that takes it out of the living.
  expect(await sql`select name from keepers order by name`).toEqual([{ name: 'free' }, { name: 'full' }]);
  expect(await sql`select distinct keeper from lanes where webhook_id = ${hanging.id}`).toEqual([{ keeper: 'full' }]);
  end.resolve();
  await Promise.all([full.drain(), free.drain()]);
  await Promise.all(running);
});
