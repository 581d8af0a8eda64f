import { expect, test } from 'vitest';
import type { Pool, Tx } from '../../../src/db/pool.ts';
import { endClaimsOfThePast } from '../../../src/delivery/queue/rescuer.ts';
import { suspendUnclaimed } from '../../../src/delivery/queue/orders/suspend.ts';
import { Suspender } from '../../../src/delivery/queue/maintenance/suspender.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertPartner, insertSubscriber, insertWebhook, readDeliveries } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';
import { pollLanes } from '../../support/poll.ts';

const database = await createTestDatabase();

test('says that a suspension fails, and tries again a second later', async () => {
  const { pool, sql } = database;
  const { partnerId, id: webhookId } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 2);
  await sql`update webhooks set active = false where id = ${webhookId}`;
  let atMs = 0;
  let isBroken = true;
  const said: string[] = [];
  const breaking = {
    transaction: ((work) =>
      pool.transaction(async (tx) => {
        const result = await work(tx);
        if (isBroken) throw new Error('broken');
        return result;
      })) as Pool['transaction'],
  } as Pool;
  const suspender = new Suspender({
    pool: breaking,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: (_fields, message) => said.push(message) },
    monotonicMs: () => atMs,
    now: () => null,
  });
  const statuses = async () => {
    suspender.suspend([webhookId]);
    await suspender.settled();
    return (await readDeliveries(sql, webhookId)).map(({ status }) => status);
  };

  expect(await statuses()).toEqual(['pendente', 'pendente']);
  expect(said).toEqual(['cannot suspend deliveries, trying again']);
  isBroken = false;
  atMs = 999;
  expect(await statuses()).toEqual(['pendente', 'pendente']);
  atMs = 1_000;
  expect(await statuses()).toEqual(['suspensa', 'suspensa']);
});

test('what is deactivated while it suspends is suspended after that', async () => {
  const { pool, sql } = database;
  const hooks = [await insertSubscriber(sql), await insertSubscriber(sql)];
  for (const { partnerId } of hooks) await commitEvents(sql, partnerId, 1);
  const ids = hooks.map(({ id }) => id);
  await sql`update webhooks set active = false where id = any (${ids}::uuid[])`;
  const suspender = new Suspender({ pool, log: silentLog, monotonicMs: () => 0, now: () => null });
  for (const id of ids) suspender.suspend([id]);
  await suspender.settled();
  for (const id of ids) expect(await readDeliveries(sql, id)).toMatchObject([{ status: 'suspensa' }]);
});

test('the end of all claims waits for a delivery that somebody else has locked, and does not go round meanwhile', async () => {
  const { pool, sql } = database;
  const { partnerId } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 1);
  const [held] = await pollLanes(pool, 'before/1', 10, new Date(Date.now() + 1_000));
  const locked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const other = sql.begin(async (tx) => {
    await tx`select from deliveries where id = ${held?.id ?? null} for update`;
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  let statements = 0;
  const ending = pool.transaction(async (tx) => {
    await tx`set local lock_timeout = '100ms'`;
    const counted: Tx = new Proxy(tx, {
      apply(target, self, words) {
        if ((statements += 1) > 20) throw new Error('it goes round');
        return Reflect.apply(target, self, words);
      },
    });
    return endClaimsOfThePast(counted);
  });
  await expect(ending).rejects.toMatchObject({ code: '55P03' });
  over.resolve();
  await other;
  expect(await pool.transaction(endClaimsOfThePast)).toBeGreaterThan(0);
});

test('two suspensions of the same webhooks in order, whose deliveries lie crosswise, do not wait for each other in a circle', async () => {
  const { pool, sql } = database;
  const partnerId = await insertPartner(sql);
  const hooks: string[] = [];
  for (const name of ['x', 'y']) hooks.push((await insertWebhook(sql, partnerId, `https://${name}.example/`)).id);
  const [x = '', y = ''] = hooks.toSorted();
  await commitEvents(sql, partnerId, 4);
  const idsOf = async (hook: string) => (await readDeliveries(sql, hook)).map(({ id }) => id).toSorted();
  const [ofX, ofY] = [await idsOf(x), await idsOf(y)];
  // The first one meets `x` before `y`, the second one `y` before `x`.
  const [first, second] = [
    [ofX.at(0), ofY.at(-1)],
    [ofY.at(0), ofX.at(-1)],
  ] as [string[], string[]];
  await sql`delete from pending where delivery_id <> all (${[...first, ...second]}::uuid[])`;
  await sql`update lanes set in_order = true, keeper = 'p'`;
  await sql`update webhooks set active = false where id = any (${hooks}::uuid[])`;
  await sql`update lanes set changed = false`;
  const [lane, rest] = [await sql.reserve(), await sql.reserve()];
  const untilWaiting = async (count: number) => {
    const waits = () => sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await waits()).length < count);
  };
  await lane`begin`;
  await lane`select from lanes where webhook_id = ${x} for update`;
  await rest`begin`;
  await rest`select from deliveries where id = any (${second}::uuid[]) for update`;
  const suspend = () => pool.transaction((tx) => suspendUnclaimed(tx, hooks));
  const one = suspend();
  await untilWaiting(1);
  await rest`commit`;
  const other = suspend();
  await untilWaiting(2);
  await lane`commit`;
  for (const reserved of [lane, rest]) reserved.release();
  expect(await Promise.allSettled([one, other])).toMatchObject([{ value: 2 }, { value: 2 }]);
});
