/** What becomes of deliveries whose event is erased: of those still to be sent, of those in flight, and of a late report. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { readProof } from '../../src/audit/proof/proof.ts';
import { eraseAll, eraseBatch } from '../../src/core/workers/erase.ts';
import { orderErasure } from '../../src/core/workers/order-erasure.ts';
import { workerKeyOf } from '../../src/core/workers/worker-key.ts';
import { sealAndSign, TRUSTED } from '../support/checkpoint.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { commitMarginEvents, insertSubscriber } from '../support/outbox.ts';
import { type Answer, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const KEY = workerKeyOf(randomBytes(32));
const ORDER = { cpf: '52998224725', actor: 'operador:ana', reason: 'x', courtOrder: null, years: 5 };

let database: TestDatabase;
let receiver: Receiver;
let engine: TestEngine;
let partnerId: string;
beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  ({ partnerId } = await insertSubscriber(database.sql, receiver.url, ['margem.falhou']));
  engine = startEngine(database.pool, { now: () => null });
});

async function order(): Promise<string> {
  await untilSettled(database.sql);
  const ordered = await orderErasure(database.pool, KEY, ORDER);
  if ('refused' in ordered) throw new Error(ordered.refused.kind);
  return ordered.ok.id;
}

const readDelivery = async () => {
  const [row] = await database.sql<[{ id: string; status: string; reason: string | null; actor: string | null }]>`
    select d.id, d.status, o.reason, o.actor from deliveries d left join send_orders o on d.id = any (o.delivery_ids)
    order by o.position desc limit 1`;
  return row;
};

test('one that is pending or suspended ends as erro with the reason, and its evidence fits', async () => {
  await commitMarginEvents(database.sql, partnerId, 2);
  await database.sql`
    update deliveries set status = 'suspensa', next_attempt_at = null where id = (select min(id::text)::uuid from deliveries)`;
  const id = await order();
  await eraseAll(database.pool);
  const { sql, pool } = database;
  const rows =
    await sql`select d.status, o.kind, o.actor, o.reason from deliveries d join send_orders o on d.id = any (o.delivery_ids)`;
  const ended = {
    status: 'erro',
    kind: 'cancelamento',
    actor: 'servico',
    reason: `os dados do evento foram apagados pelo pedido ${id}`,
  };
  expect(rows).toEqual([ended, ended]);
  expect(await engine.poll()).toBe(0);
  expect(receiver.posts).toEqual([]);
  await untilSettled(sql);
  await sealAndSign(pool);
  const proof = await readProof(pool, (await readDelivery()).id);
  expect(checkProof(JSON.stringify(proof), TRUSTED)).toMatchObject({ fits: true, facts: { apagado: { pedido: id } } });
  expect((await verifySeals(pool)).findings).toEqual([]);
});

test('one that is in flight is waited for, and its answer is erased with the others', async () => {
  const held = Promise.withResolvers<() => void>();
  const answerLater: Answer = (post, response) => held.resolve(() => void response.writeHead(200).end(post.body));
  receiver.answerWith(answerLater);
  await commitMarginEvents(database.sql, partnerId, 1);
  await order();
  const poll = engine.poll();
  const answer = await held.promise;
  expect(await eraseBatch(database.pool)).toBe('waits');
  expect(await database.sql`select from events where salt is null`).toHaveLength(0);
  answer();
  await poll;
  await eraseAll(database.pool);
  expect(
    await database.sql`select status, answer, a.salt, commitment is not null as committed from attempts a join deliveries d on d.id = delivery_id`,
  ).toEqual([{ status: 'entregue', answer: null, salt: null, committed: true }]);
});

describe('an erased event', () => {
  test('is never sent, whoever made its delivery due again', async () => {
    await commitMarginEvents(database.sql, partnerId, 1);
    await order();
    await eraseAll(database.pool);
    await database.sql`update deliveries set status = 'pendente', next_attempt_at = now(), finished_at = null`;
    await engine.poll();
    expect(receiver.posts).toEqual([]);
    await expect
      .poll(readDelivery)
      .toMatchObject({ status: 'erro', reason: expect.stringContaining('foi apagado') as string });
  });

  test('gets no answer from a poller that reports when its lease is long over', async () => {
    const held = Promise.withResolvers<() => void>();
    receiver.answerWith((post, response) => held.resolve(() => void response.writeHead(200).end(post.body)));
    await commitMarginEvents(database.sql, partnerId, 1);
    await order();
    const poll = engine.poll();
    const answer = await held.promise;
    await database.sql`update claims set at = at - interval '1 hour'`;
    await eraseAll(database.pool);
    answer();
    await poll;
    expect(await database.sql`select late, outcome, answer from attempts order by late`).toEqual([
      { late: false, outcome: 'desconhecido', answer: null },
      { late: true, outcome: 'entregue', answer: null },
    ]);
    receiver.answerWith(status(200));
  });
});

test('of 1,000 events, each is listed once, and erased a page at a time beside appends', async () => {
  await commitMarginEvents(database.sql, partnerId, 1_000);
  const id = await order();
  const { sql, pool } = database;
  for (let pages = 0; pages < 3; pages += 1) await eraseBatch(pool);
  const left = async () => (await sql`select from events where salt is not null`).length;
  expect(await left()).toBe(1_000 - 150);
  await commitMarginEvents(sql, partnerId, 1);
  await Promise.all([eraseAll(pool), eraseAll(pool)]);
  await eraseAll(pool);
  expect(await left()).toBe(1);
  const [sums] = await sql`
    select o.events, o.pages, count(*)::int as listed, count(distinct event_id)::int as events_listed
    from erasure_orders o join erasure_pages p on p.order_id = o.id cross join unnest(p.event_ids) as event_id
    where o.id = ${id} group by o.events, o.pages`;
  expect(sums).toEqual({ events: 1_000, pages: 20, listed: 1_000, events_listed: 1_000 });
  await untilSettled(sql);
  await sealAndSign(pool);
  expect((await verifySeals(pool)).findings).toEqual([]);
});
