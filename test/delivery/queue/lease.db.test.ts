import { expect, test } from 'vitest';
import { TIMES_S, timesFault } from '../../../src/contract/delivery.ts';
import { delaysFault } from '../../../src/contract/schedule.ts';
import { refuse } from '../../../src/db/fitness/finding.ts';
import { CHECKS } from '../../../src/main/operations/checks.ts';
import { startHeldPoller } from '../../support/held-poller.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';

const { database, partnerId } = await useOneWebhook();

/** As a release with another lease would leave it. */
async function setLease(seconds: number): Promise<void> {
  await database.sql.unsafe(`
    create or replace function lease() returns interval language plpgsql stable parallel safe
    as $$ begin return interval '${seconds} seconds'; end $$`);
}

test('the durations work together, and what would keep deliveries from being sent is named', () => {
  expect(timesFault(TIMES_S)).toBeNull();
  expect(timesFault({ ...TIMES_S, lease: 30 })).toContain('a lease of 30 s is too short');
  expect(timesFault({ ...TIMES_S, response: TIMES_S.lease })).toContain(
    `it must be longer than ${TIMES_S.lease + 5} s`,
  );
  expect(timesFault({ ...TIMES_S, drain: 31 })).toContain('ends before an attempt of 31 s is recorded');
  expect(timesFault({ ...TIMES_S, deadAfter: 0.6 })).toContain('would be dead to others');
  expect(delaysFault(TIMES_S.lease)).toBeNull();
  expect(delaysFault(60)).toContain('would wait for the lease');
});

test('a poller counts the lease that the database has, also when a migration has changed it meanwhile', async () => {
  const poller = startHeldPoller(database.pool, 'one', 64, Date.now() + 60_000);
  await commitEvents(database.sql, partnerId, 1);
  expect(await poller.tick()).toBe(1);
  expect(poller.flying()).toBe(1);

  await setLease(TIMES_S.response + TIMES_S.record);
  await commitEvents(database.sql, partnerId, 1);
  expect(await poller.tick()).toBe(1);
  expect(poller.flying()).toBe(1);
  const unsent = await database.sql`select from deliveries where id not in (select delivery_id from flights())`;
  expect(unsent).toHaveLength(1);

  await setLease(TIMES_S.lease);
  expect(await poller.tick()).toBe(1);
  expect(poller.flying()).toBe(2);
});

test('a poller does not start on a database whose lease is too short for an attempt', async () => {
  const look = async () => refuse(await database.pool.run(CHECKS.lease));
  await look();
  await setLease(30);
  await expect(look()).rejects.toThrow(/a lease of 30 s is too short: .* run the command 'migrate'/);
  await setLease(60);
  await expect(look()).rejects.toThrow(/not shorter than a schedule's delay of 60 s/);
  await setLease(TIMES_S.lease);
});
