/** The window of a lane: how many of a webhook's deliveries its answers let fly. The rule itself is held by test/model/window.test.ts. */
import { beforeEach, describe, expect, test } from 'vitest';
import { gatherAnswers } from '../../../src/delivery/queue/answers.ts';
import { setCap } from '../../../src/delivery/queue/orders/lane.ts';
import { NEW_PACE, nextWindow } from '../../../src/delivery/queue/window.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { SILENCE, startHeldPoller } from '../../support/held-poller.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';

const REFUSED = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 503 } as const;

let startMs: number;

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  startMs = Date.now() + 60_000;
});

const start = (name: string) => startHeldPoller(pool, name, 512, startMs);
const readWindow = async () => (await sql<[{ size: number }]>`select window_size as size from lanes`)[0].size;

describe('what a record tells of answers', () => {
  const report = (...results: (number | null)[]) =>
    gatherAnswers(
      results.map((statusCode) => ({ webhookId, partnerId, result: { ...DELIVERED, statusCode, durationMs: 5 } })),
    );

  test.each([200, 204, 302, 400, 404, 410])('%i came well', (status) => {
    expect(report(status, status)).toEqual([{ webhookId, partnerId, isSilent: false, good: 2, bad: 0, goodMs: 10 }]);
  });

  test.each([429, 502, 503, 504])('%i is too much', (status) => {
    expect(report(status, 200)).toEqual([{ webhookId, partnerId, isSilent: false, good: 1, bad: 1, goodMs: 5 }]);
  });

  test('any other failure of the receiver says nothing, and no answer is silence', () => {
    expect(report(500, 501, null)).toEqual([{ webhookId, partnerId, isSilent: true, good: 0, bad: 0, goodMs: 0 }]);
  });
});

describe('the window of a lane', () => {
  test('takes any number of answers that took no time at all', () => {
    let pace = NEW_PACE;
    for (let round = 0; round < 12; round += 1) {
      pace = nextWindow(pace, 8, { inFlight: 8, isSilent: false, good: 1_000_000_000, bad: 0, goodMs: 0 });
    }
    expect(pace).toMatchObject({ window: 8, answers: 64, answersMs: 64, bestMs: 1 });
  });

  test('grows to the ceiling, and no further', async () => {
    await commitEvents(sql, partnerId, 200);
    await setCap(sql, webhookId, 20);
    const poller = start('one');
    const seen: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      await poller.fill(round);
      seen.push(poller.flying());
      await poller.end(DELIVERED);
    }
    // Four rounds are measured, then it doubles.
    expect(seen).toEqual([8, 8, 8, 8, 16, 20, 20, 20]);
  });

  test('stays as it is while it is not filled', async () => {
    const poller = start('one');
    for (let round = 0; round < 50; round += 1) {
      await commitEvents(sql, partnerId, 2);
      await poller.fill(round);
      await poller.end(DELIVERED);
    }
    await poller.drain();
    expect(await readWindow()).toBe(8);
  });

  test('falls by what was refused of those that fly together, once, and its next keeper begins there', async () => {
    await commitEvents(sql, partnerId, 60);
    await sql`update lanes set window_size = 40`;
    const poller = start('one');
    await poller.fill();
    for (let refused = 0; refused < 4; refused += 1) await poller.end(REFUSED, '', 1);
    await poller.end(DELIVERED, '', 5);
    await poller.fill(1);
    expect(poller.flying()).toBe(31);
    await poller.end(REFUSED);
    await poller.drain();
    expect(await readWindow()).toBeLessThan(31);
  });

  test('is one slot after silence, also of one of many, and of those that fly already none is taken back', async () => {
    await commitEvents(sql, partnerId, 60);
    await sql`update lanes set window_size = 40`;
    const poller = start('one');
    await poller.fill();
    await poller.end(SILENCE, '', 1);
    await poller.end(DELIVERED, '', 9);
    await poller.fill(1);
    expect(poller.flying()).toBe(30);
    await poller.end(DELIVERED, '', 29);
    await poller.end(SILENCE);
    await poller.fill(2);
    expect(poller.flying()).toBe(1);
  });

  test('is no more than at first while an attempt lingers, and itself again when that is over', async () => {
    await setCap(sql, webhookId, 40);
    await sql`update lanes set window_size = 40`;
    await commitEvents(sql, partnerId, 300);
    const poller = start('one');
    await poller.fill();
    expect(poller.flying()).toBe(40);
    // The first one stays in flight.
    const endOthers = async () => poller.endButFirst(DELIVERED);
    for (const [atS, flying] of [
      [4, 40],
      [4.9, 40],
      [5, 8],
      [20, 8],
    ] as const) {
      await endOthers();
      await poller.fill(atS);
      expect(poller.flying()).toBe(flying);
    }
    await poller.end(DELIVERED);
    await poller.fill(21);
    expect(poller.flying()).toBe(40);
  });
});
