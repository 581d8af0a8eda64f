import { expect, test } from 'vitest';
import { TIMES_S } from '../../../src/contract/delivery.ts';
import type { Pool } from '../../../src/db/pool.ts';
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
