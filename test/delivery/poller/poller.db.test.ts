import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { TIMES_S } from '../../../src/contract/delivery.ts';
import { createSender } from '../../../src/delivery/sending/send.ts';
import { VersionConflict } from '../../../src/log/append.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { advance, startEngine } from '../../support/engine.ts';
import { commitEvents, insertPartner, insertWebhook, openTestSecret, readDeliveries } from '../../support/outbox.ts';
import { hang, type Receiver, startReceiver, status } from '../../support/receiver.ts';
import { failedDisbursementOf } from '../../support/payloads.ts';
import { poolWith } from '../../support/pool-with.ts';

let receiver: Receiver;
let partnerId: string;
let webhookId: string;

const database = await useEmptyDatabase();
const { pool, sql } = database;
beforeEach(async () => {
  receiver = await startReceiver();
  partnerId = await insertPartner(sql);
  webhookId = (await insertWebhook(sql, partnerId, `${receiver.url}/`)).id;
});

test('of 2,000 transactions, half rolled back, each committed one arrives once and nothing of the others exists', async () => {
  const rollBack = new Error('rolled back on purpose');
  const committed = new Set<string>();
  const one = async (index: number) => {
    const [row] = await sql<[{ id: string }]>`select gen_random_uuid() as id`;
    const append = pool.transaction(async (tx) => {
      await tx`
        select append_event(${row.id}, 0, 'desembolso.falhou', ${partnerId},
                            ${failedDisbursementOf(row.id)}::text::json, 'test')`;
      if (index % 2 === 1) throw rollBack;
      committed.add(row.id);
    });
    await append.catch((error: unknown) => {
      if (error !== rollBack) throw error;
    });
  };
  const indexes = Array.from({ length: 2_000 }, (_, index) => index);
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let index = indexes.pop(); index !== undefined; index = indexes.pop()) await one(index);
    }),
  );
  const counts = await sql`
    select (select count(*)::int from events) as events, (select count(*)::int from messages) as messages,
           (select count(*)::int from deliveries) as deliveries, (select count(*)::int from pending) as pending`;
  expect(counts[0]).toEqual({ events: 1_000, messages: 1_000, deliveries: 1_000, pending: 1_000 });

  const engine = startEngine(pool);
  while ((await engine.poll()) > 0);
  const arrived = receiver.posts.map(
    (post) => (JSON.parse(post.body.toString()) as { data: { emprestimo_id: string } }).data.emprestimo_id,
  );
  expect(arrived).toHaveLength(1_000);
  expect(new Set(arrived)).toEqual(committed);
});

test('an append on a version that is not the stream’s current one is refused and leaves nothing', async () => {
  const { append } = await import('../../../src/log/append.ts');
  const appendAt = (expectedVersion: number) =>
    pool.transaction((tx) =>
      append(tx, {
        stream: partnerId,
        expectedVersion,
        facts: [{ type: 'desembolso.falhou', data: { emprestimo_id: partnerId, numero_emprestimo: '1', motivo: 'x' } }],
        partnerId,
        actor: 'test',
        requestId: null,
        occurredAt: new Date(),
      }),
    );
  await expect(appendAt(1)).rejects.toThrow(VersionConflict);
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => appendAt(0)));
  expect(results.filter(({ status: outcome }) => outcome === 'fulfilled')).toHaveLength(1);
  expect(await readDeliveries(sql, webhookId)).toHaveLength(1);
});

test('a secret that cannot be opened is no attempt: the delivery is released, due later, and an alarm is logged', async () => {
  await commitEvents(sql, partnerId, 1);
  const alarms: string[] = [];
  const engine = startEngine(pool, {
    openSecret: () => {
      throw new Error('no key of the ring');
    },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: (_fields, message) => alarms.push(message) },
  });
  await engine.poll();
  expect(alarms).toEqual(['a fault of ours kept a delivery from being sent']);
  expect(receiver.posts).toHaveLength(0);
  expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'pendente', attempts: 0, failures: 0 }]);
  expect(await engine.poll()).toBe(0);
  await engine.close();

  const mended = startEngine(pool, { openSecret: openTestSecret });
  advance(mended, 120);
  expect(await mended.poll()).toBe(1);
  expect(await sql`select number, outcome from attempts`).toMatchObject([{ number: 1, outcome: 'entregue' }]);
});

test('a delivery whose lease has too little left is released instead of sent', async () => {
  await commitEvents(sql, partnerId, 1);
  let atMs = 0;
  const engine = startEngine(pool, { monotonicMs: () => (atMs += 20_000) });
  await engine.poll();
  expect(receiver.posts).toHaveLength(0);
  expect(await readDeliveries(sql, webhookId)).toMatchObject([{ attempts: 0, claimedBy: null, status: 'pendente' }]);
});

test('a release that the server cancels is tried again: no lease is left, and no attempt that nobody made', async () => {
  await commitEvents(sql, partnerId, 1);
  let cancels = 0;
  const busy = poolWith(pool, {
    async transaction(work) {
      if (cancels === 0) return pool.transaction(work);
      cancels -= 1;
      return pool.run((sql) => sql`do $$ begin raise query_canceled; end $$` as never);
    },
  });
  const engine = startEngine(busy, {
    openSecret: () => {
      cancels = 2;
      throw new Error('no key of the ring');
    },
  });
  await engine.poll();
  expect(await readDeliveries(sql, webhookId)).toMatchObject([{ attempts: 0, claimedBy: null, status: 'pendente' }]);
});

describe('a poller that stands still between looking at its lease and sending', () => {
  /** Claims `count` deliveries, and stands still for so long right before each POST is made. */
  async function standStill(ms: number, count = 1): Promise<void> {
    await commitEvents(sql, partnerId, count);
    let stoodMs = 0;
    const monotonicMs = () => performance.now() + stoodMs;
    const sender = createSender({ allowInsecure: true, now: monotonicMs });
    const engine = startEngine(pool, {
      monotonicMs,
      sender: {
        send(request, startedAtMs) {
          stoodMs += ms;
          return sender.send(request, startedAtMs);
        },
      },
    });
    await engine.poll();
    await engine.close();
    await sender.close();
  }

  test('sends nothing when its deadline is over: its lease may be, too', async () => {
    await standStill((TIMES_S.lease + 1) * 1_000);
    expect(receiver.posts).toHaveLength(0);
    expect(await sql`select outcome, duration_ms >= 46000 as waited from attempts`).toEqual([
      { outcome: 'tempo_esgotado', waited: true },
    ]);
  });

  test('gives back what it has not sent of its claim once too little of the lease is left', async () => {
    await standStill((TIMES_S.lease - 25) * 1_000, 2);
    expect(receiver.posts).toHaveLength(1);
    expect(
      (await readDeliveries(sql, webhookId)).toSorted((one, other) => one.attempts - other.attempts),
    ).toMatchObject([
      { status: 'pendente', attempts: 0, claimedBy: null },
      { status: 'entregue', attempts: 1 },
    ]);
  });

  test('writes a row whose time has the POST in it', async () => {
    await standStill(2_000);
    expect(receiver.posts).toHaveLength(1);
    expect(await sql`select outcome, duration_ms >= 2000 as waited from attempts`).toEqual([
      { outcome: 'entregue', waited: true },
    ]);
  });
});

test('an attempt is not noted to have started late when its record took long to get there', async () => {
  const engine = startEngine(pool, { monotonicMs: () => 0 });
  const claimedAt = engine.now;
  receiver.answerWith((_post, response) => {
    // What the database's clock says by the time that the record is there.
    advance(engine, 40);
    response.writeHead(200).end();
  });
  await commitEvents(sql, partnerId, 1);
  await engine.poll();
  const [attempt] = await sql<[{ startedAt: Date }]>`select started_at as "startedAt" from attempts`;
  expect(attempt.startedAt.getTime() - claimedAt.getTime()).toBeLessThan(5_000);
});

test('a drain waits for what is in flight, records it, claims nothing more and leaves no lease', async () => {
  await commitEvents(sql, partnerId, 20);
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
  let answer = (): void => undefined;
  receiver.answerWith((_post, response) => {
    const previous = answer;
    answer = () => {
      previous();
      response.writeHead(200).end();
    };
    if (receiver.posts.length === 8) onAsked();
  });
  const engine = startEngine(pool, { now: () => null });
  const running = engine.poller.run();
  await asked;
  const drained = engine.poller.drain();
  receiver.answerWith(status(200));
  answer();
  await Promise.all([drained, running]);
  expect(receiver.posts).toHaveLength(8);
  expect(await sql`select status, count(*)::int as n from deliveries group by 1 order by 1`).toEqual([
    { status: 'entregue', n: 8 },
    { status: 'pendente', n: 12 },
  ]);
  expect(await sql`select from flights()`).toHaveLength(0);
});

test('a webhook that hangs does not hold up another, nor get more than its cap', async () => {
  receiver.answerWith(hang(), '/hanging');
  const hanging = await insertWebhook(sql, partnerId, `${receiver.url}/hanging`);
  await commitEvents(sql, partnerId, 100);
  const engine = startEngine(pool, { now: () => null, capacity: 32 });
  const running = engine.poller.run();
  const healthy = () => receiver.posts.filter((post) => post.path === '/').length;
  while (healthy() < 100) await sleep(5);
  expect(receiver.posts.filter((post) => post.path === '/hanging').length).toBe(8);
  expect((await readDeliveries(sql, hanging.id)).filter((row) => row.claimedBy !== null)).toHaveLength(8);
  receiver.closeConnections();
  await Promise.all([engine.close(), running]);
});

test('a drain that meets a claim under way waits for it and releases what it took', async () => {
  await commitEvents(sql, partnerId, 5);
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const slow = poolWith(pool, {
    async transaction(work) {
      const result = await pool.transaction(work);
      onAsked();
      await answered;
      return result;
    },
  });
  const engine = startEngine(slow, { now: () => null });
  const running = engine.poller.run();
  await asked;
  const drained = engine.poller.drain();
  answer();
  await Promise.all([drained, running]);
  expect(await sql`select from flights()`).toHaveLength(0);
  expect(receiver.posts).toHaveLength(0);
});
