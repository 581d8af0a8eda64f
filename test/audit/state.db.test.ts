/** A delivery, a webhook and a partner beside what is sealed of them, where all is as it should be, and where it is not. */
import { beforeEach, expect, test } from 'vitest';
import type { TreeHead } from '../../src/audit/seals/tree/merkle.ts';
import { readTreeHead } from '../../src/audit/seals/seal-log.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { cancelDelivery } from '../../src/delivery/queue/orders/cancel.ts';
import { resendOne } from '../../src/delivery/partner/resend.ts';
import { createTestDatabase } from '../support/database.ts';
import { advance, startEngine } from '../support/engine.ts';
import { commitMarginEvents, insertSubscriber } from '../support/outbox.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const AUTHOR = { actor: 'test', requestId: null };

let delivery: string;

const database = await createTestDatabase();
const receiver = await startReceiver();
const engine = startEngine(database.pool);
const { partnerId: partner } = await insertSubscriber(database.sql, receiver.url, ['margem.falhou']);
beforeEach(async () => {
  await commitMarginEvents(database.sql, partner, 1);
  const [row] = await database.sql<[{ id: string }]>`select id from deliveries order by id desc limit 1`;
  delivery = row.id;
  receiver.answerWith(status(200));
  advance(engine, 5);
});

async function seal(): Promise<TreeHead> {
  await untilSettled(database.sql);
  await sealAll(database.pool);
  return (await database.pool.run((sql) => readTreeHead(sql))) as TreeHead;
}

async function verify(since: TreeHead | null = null) {
  const { findings } = await verifySeals(database.pool, { since });
  return findings.map(({ tipo, linha, colunas }) => [tipo, linha, colunas]);
}

const resend = () => database.pool.transaction((tx) => resendOne(tx, partner, delivery, AUTHOR));
const cancel = () => database.pool.transaction((tx) => cancelDelivery(tx, delivery, AUTHOR));

test('what was ordered is no finding: pending, pending again after it arrived, cancelled before and after', async () => {
  expect(await verify()).toEqual([]);
  await engine.poll();
  await resend();
  expect(await verify()).toEqual([]);
  await cancel();
  expect(await verify()).toEqual([]);
  await database.sql`delete from send_orders where kind = 'cancelamento'`;
  expect(await verify()).toEqual([['status_divergente', delivery, ['status']]]);
  await database.sql`update deliveries set status = 'entregue' where id = ${delivery}`;
  await commitMarginEvents(database.sql, partner, 1);
  await database.sql`select id from deliveries order by id desc limit 1`.then(
    ([row]) => (delivery = row?.['id'] as string),
  );
  await cancel();
  expect(await verify()).toEqual([]);
});

test('an increment judges the deliveries that were made, or attempted, since the head that it goes on from', async () => {
  receiver.answerWith(status(500));
  await engine.poll();
  await database.sql`
    with old as (update deliveries set id = '00000000-0000-7000-8000-000000000001' where id = ${delivery} returning id)
    update attempts set delivery_id = old.id from old where delivery_id = ${delivery}`;
  delivery = '00000000-0000-7000-8000-000000000001';
  const head = await seal();
  await database.sql`update deliveries set status = 'entregue', finished_at = now(), next_attempt_at = null where id = ${delivery}`;
  expect(await verify(head)).toEqual([]);
  expect(await verify()).toEqual([['status_divergente', delivery, ['status']]]);
  await database.sql`update deliveries set status = 'pendente', finished_at = null, next_attempt_at = now() where id = ${delivery}`;
  await database.sql`
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
    select id, 2, event_id, webhook_id, partner_id, 'entregue', 200, now(), 1, 'https://x.example/', 'x/1' from deliveries where id = ${delivery}`;
  expect(await verify(head)).toEqual([['status_divergente', delivery, ['status']]]);
  await database.sql`delete from attempts where delivery_id = ${delivery}`;
  await database.sql`delete from deliveries where id = ${delivery}`;
});

test('rows that name a time outside their seal are told, whichever side they lie on, and those of history are not', async () => {
  await engine.poll();
  await seal();
  await commitMarginEvents(database.sql, partner, 3);
  await engine.poll();
  const own = database.sql`xid8send(tx)::bigint >= (select max(end_tx) from seals)`;
  await database.sql`update attempts set recorded_at = recorded_at - interval '2 hours' where ${own}`;
  await database.sql`update events set id = uuidv7('2 hours'::interval) where ${own}`;
  await seal();
  const strange = (await verify()).filter(([tipo]) => tipo === 'hora_fora_do_selo');
  expect(strange).toHaveLength(2);
  await database.sql`update events set imported = true`;
  expect((await verify()).filter(([tipo]) => tipo === 'hora_fora_do_selo')).toHaveLength(1);
});
