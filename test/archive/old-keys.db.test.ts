/** Idempotency keys leave with their time, but those of loans, which never expire by the contract. */
import { expect, test } from 'vitest';
import { maintainMonths } from '../../src/archive/maintain.ts';
import { openPlace } from '../../src/archive/place.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertPartner, insertWebhook } from '../support/outbox.ts';

test('maintain removes old keys of webhooks in batches, and no young one, and none of a loan', async () => {
  const { sql, pool } = await createTestDatabase();
  const partner = await insertPartner(sql);
  const { id: webhook } = await insertWebhook(sql, partner, 'https://partner.example/');
  const insert = (operation: string, age: string, count = 1) => sql`
    insert into idempotency_keys (partner_id, operation, key, request_hash, created_at)
    select ${partner}, ${operation}, ${age} || number, sha256('x'), now() - ${age}::interval
    from generate_series(1, ${count}) number`;
  const operations = ['POST /v1/webhooks', `POST /v1/webhooks/${webhook}/segredo`, 'POST /v1/emprestimos'];
  for (const operation of operations) for (const age of ['1 day', '200 days']) await insert(operation, age);
  await insert('POST /v1/webhooks', '300 days', 2_500);
  const run = (keepMonths: number) =>
    maintainMonths({
      pool,
      openPlace: (name) => openPlace(name, null),
      signers: [],
      actor: 'teste',
      maintenance: { keepMonths, to: '/nowhere' },
      seal: async () => undefined,
    });
  expect(await run(600)).toMatchObject({ keys: 0 });
  expect(await run(3)).toMatchObject({ keys: 2_502 });
  expect(await run(3)).toMatchObject({ keys: 0 });
  const kept = await sql`select operation, key from idempotency_keys order by operation, key`;
  expect(kept).toEqual([
    { operation: operations[2], key: '1 day1' },
    { operation: operations[2], key: '200 days1' },
    { operation: operations[0], key: '1 day1' },
    { operation: operations[1], key: '1 day1' },
  ]);
});
