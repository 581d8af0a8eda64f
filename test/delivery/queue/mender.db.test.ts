import { expect, test } from 'vitest';
import { TIMES_S } from '../../../src/contract/delivery.ts';
import type { Pool, Tx } from '../../../src/db/pool.ts';
import { endClaimsOfThePast } from '../../../src/delivery/queue/lost.ts';
import { Mender } from '../../../src/delivery/queue/upkeep/mender.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertSubscriber, insertWebhook, readDeliveries } from '../../support/outbox.ts';
import { takeTurn } from '../../support/turn.ts';

const database = await createTestDatabase();

test('ends what is lost although a suspension fails, says so, and tries again a second later', async () => {
  const { pool, sql } = database;
  const { partnerId, id: webhookId } = await insertSubscriber(sql);
  const { id: inactive } = await insertWebhook(sql, partnerId, 'https://inactive.example/');
  const start = new Date(Date.now() + 1_000);
  await commitEvents(sql, partnerId, 1);
  const claimed = await takeTurn(pool, 'dead/1', 1, start);
  const lost = claimed.map(({ id }) => id);
  await sql`update webhooks set active = false where id <> ${claimed[0]?.webhookId ?? null}`;
  const closed = claimed[0]?.webhookId === webhookId ? inactive : webhookId;

  let atMs = 0;
  let isBroken = true;
  const said: string[] = [];
  const breaking = {
    transaction: ((work) =>
      pool.transaction(async (tx) => {
        const result = await work(tx);
        if (isBroken && (await tx`select from deliveries where status = 'suspensa'`).length > 0)
          throw new Error('broken');
        return result;
      })) as Pool['transaction'],
  } as Pool;
  const mender = new Mender({
    pool: breaking,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: (_fields, message) => said.push(message) },
    monotonicMs: () => atMs,
    now: () => new Date(start.getTime() + (TIMES_S.lease + 1) * 1_000),
  });
  const statuses = async () => {
    mender.mend([closed], lost);
    await mender.settled();
    const rows = [...(await readDeliveries(sql, webhookId)), ...(await readDeliveries(sql, inactive))];
    return rows.map(({ status, claimedBy, lostInRow }) => `${status} ${claimedBy} ${lostInRow}`).toSorted();
  };

  expect(await statuses()).toEqual(['pendente null 0', 'pendente null 1']);
  expect(said).toEqual(['cannot suspend deliveries, trying again']);
  isBroken = false;
  atMs = 999;
  expect(await statuses()).toEqual(['pendente null 0', 'pendente null 1']);
  atMs = 1_000;
  expect(await statuses()).toEqual(['pendente null 1', 'suspensa null 0']);
});

test('the end of all claims waits for a delivery that somebody else has locked, and does not go round meanwhile', async () => {
  const { pool, sql } = database;
  const { partnerId } = await insertSubscriber(sql);
  await commitEvents(sql, partnerId, 1);
  const [held] = await takeTurn(pool, 'before/1', 10, new Date(Date.now() + 1_000));
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
