/** Where the feed begins for a reader that names an instant, and one event by its id. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { FeedItem } from '../../src/contract/resources/delivery-resource.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { beginAppend, type FeedPage, loansOf, readFeed, readFeedUntil } from '../support/feed.ts';
import { LOAN, RECEIVED_DOCUMENT } from '../support/payloads.ts';

const world = await startDeliveryWorld();
const { sql } = world.api.database;
const { partner, webhook } = useSubscriber(world);

/** When the event was recorded, by its id. */
const recordedAt = (id: string) => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString();

/** A moment of the clock after all that was recorded, and before all that will be. */
async function betweenMoments(): Promise<string> {
  const next = async (after: number) => {
    while (Date.now() <= after) await sleep(1);
    return Date.now();
  };
  const moment = await next(Date.now());
  await next(moment);
  return new Date(moment).toISOString();
}

/** Loans with one event each, no two of them recorded in the same millisecond. */
async function emitApart(count: number): Promise<{ loans: string[]; page: FeedPage }> {
  const loans: string[] = [];
  for (let index = 0; index < count; index += 1) {
    loans.push(await partner.emit());
    await betweenMoments();
  }
  return { loans, page: await readFeedUntil(partner, count) };
}

describe('the feed since an instant', () => {
  test('begins with the first event recorded then or later, and goes on by its cursor', async () => {
    const { loans, page } = await emitApart(5);
    const since = recordedAt(page.itens[2]?.evento_id ?? '');
    const first = await readFeed(partner, `?limite=2&desde=${since}`);
    expect(loansOf(first)).toEqual(loans.slice(2, 4));
    expect(loansOf(await readFeed(partner, `?depois=${first.proximo_cursor}`))).toEqual(loans.slice(4));
    // The cursor says where to go on, whatever `desde` says.
    expect(loansOf(await readFeed(partner, `?depois=${first.proximo_cursor}&desde=2020-01-01`))).toEqual(
      loans.slice(4),
    );
  });

  test('is the whole feed since a time before it, and what comes from now on since a time to come', async () => {
    const { loans } = await emitApart(2);
    expect(loansOf(await readFeed(partner, '?desde=2020-01-31'))).toEqual(loans);
    const none = await readFeed(partner, '?desde=2999-01-01T00:00:00Z');
    expect(none.itens).toEqual([]);
    const later = await partner.emit();
    expect(loansOf(await readFeedUntil(partner, 1, `?depois=${none.proximo_cursor}`))).toEqual([later]);
  });

  test('misses nothing that a transaction records later which had begun before', async () => {
    await emitApart(1);
    const late = await beginAppend(world.api.database.pool, partner.id);
    const before = await partner.emit();
    const since = await betweenMoments();
    const after = await partner.emit();
    await late.commit();
    const page = await readFeedUntil(partner, 3, `?desde=${since}`);
    // In the feed's order, in which what was recorded before comes after the transaction that recorded last.
    expect(loansOf(page)).toEqual([late.stream, before, after]);
  });

  test('gives no cursor beyond what may still appear while a transaction is open', async () => {
    await emitApart(1);
    const since = await betweenMoments();
    const late = await beginAppend(world.api.database.pool, partner.id);
    const after = await partner.emit();
    const waiting = await readFeed(partner, `?desde=${since}`);
    expect(waiting.itens).toEqual([]);
    await late.commit();
    expect(loansOf(await readFeedUntil(partner, 2, `?depois=${waiting.proximo_cursor}`))).toEqual([late.stream, after]);
  });

  test.each([
    ['amanhã', 'desde'],
    ['2026-01-31T12:00:00', 'desde'],
    ['2026-02-30', 'desde'],
  ])('refuses %s, and names the field and the rule', async (given, field) => {
    const { status, body } = await partner.send('GET', `/v1/eventos?desde=${given}`);
    expect([status, body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    expect(body.detalhes).toEqual([{ campo: field, mensagem: expect.stringMatching(/instante ISO 8601/) }]);
  });
});

describe('one event', () => {
  test('is what the feed shows of it', async () => {
    const { page } = await emitApart(1);
    const answer = await partner.send<FeedItem>('GET', `/v1/eventos/${page.itens[0]?.evento_id}`);
    expect([answer.status, answer.body]).toEqual([200, page.itens[0]]);
    expect(answer.body.entregas).toMatchObject([{ webhook_id: webhook.id, status: 'pendente' }]);
    expect(JSON.stringify(answer.body.envelope)).toBe(JSON.stringify(page.itens[0]?.envelope));
  });

  test('can be read before it is certain that nothing comes before it', async () => {
    const late = await beginAppend(world.api.database.pool, partner.id);
    const loan = await partner.emit();
    const [row] = await sql<[{ id: string }]>`select id from events where stream = ${loan}`;
    expect((await partner.send('GET', `/v1/eventos/${row.id}`)).status).toBe(200);
    await late.commit();
  });

  test("another partner's, an internal fact, a test, and an unknown one are 404 alike", async () => {
    const { page } = await emitApart(1);
    const [fact] = await sql<[{ id: string }]>`
      select (append_event(${LOAN}, 0, 'documento.recebido', ${partner.id}, ${RECEIVED_DOCUMENT}::text::json, 'test')).event_id
        as id`;
    const [made] = await sql<[{ id: string }]>`
      select make_test_delivery(${webhook.id}, ${partner.id}, 'webhook.teste', '{}', 'test') as id`;
    const [tried] = await sql<[{ id: string }]>`select event_id as id from deliveries where id = ${made.id}`;
    const other = await world.subscriber();
    const theirs = await other.send('GET', `/v1/eventos/${page.itens[0]?.evento_id}`);
    const ours = await Promise.all(
      [fact.id, tried.id, crypto.randomUUID(), 'x'].map((id) => partner.send('GET', `/v1/eventos/${id}`)),
    );
    expect([theirs, ...ours].map(({ status, body }) => `${status} ${body.codigo}`)).toEqual(
      Array.from({ length: 5 }, () => '404 NAO_ENCONTRADO'),
    );
  });
});
