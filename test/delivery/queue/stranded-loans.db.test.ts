import { afterAll, beforeAll, expect, test } from 'vitest';
import { setInOrder } from '../../../src/delivery/queue/orders/order.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { wakeStrandedLoans } from '../../../src/delivery/queue/upkeep/stranded-loans.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { insertPartner, insertWebhook } from '../../support/outbox.ts';
import { failedDisbursementOf } from '../../support/payloads.ts';
import { takeTurn } from '../../support/turn.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('what waits is left alone while one of its loan will wake it, and woken where none will', async () => {
  const { pool, sql } = database;
  const partnerId = await insertPartner(sql);
  const { id } = await insertWebhook(sql, partnerId, 'https://partner.example/');
  await pool.transaction((tx) => setInOrder(tx, id, true));
  const loan = crypto.randomUUID();
  for (let version = 0; version < 3; version += 1) {
    await sql`
      select append_event(${loan}, ${version}, 'desembolso.falhou', ${partnerId}, ${failedDisbursementOf(loan)}::text::json, 'test')`;
  }
  const now = new Date(Date.now() + 1_000);
  const [first] = await takeTurn(pool, 'p/1', 10, now);
  const wake = () => pool.transaction((tx) => wakeStrandedLoans(tx, null, 1_000));
  expect(await wake()).toBe(0);
  // As if somebody had taken the mark away by hand.
  await sql`update deliveries set awaited = null`;
  expect(await wake()).toBe(2);
  expect(await takeTurn(pool, 'p/2', 10, now)).toEqual([]);
  if (first === undefined) throw new Error('nothing was taken');
  const { id: deliveryId, number, url } = first;
  const report = { deliveryId, webhookId: id, partnerId, number, claim: 'p/1', url, keyId: 'test' };
  await record(
    pool,
    [{ ...report, startedAtMs: 0, startedByMs: Number.MAX_SAFE_INTEGER, result: DELIVERED }],
    () => 10,
    now,
  );
  expect((await takeTurn(pool, 'p/3', 10, now)).map(({ loanVersion }) => loanVersion)).toEqual([2]);
  expect(await wake()).toBe(0);
});
