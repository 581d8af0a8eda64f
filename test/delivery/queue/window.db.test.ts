/** The window of a lane: how many of a webhook's deliveries its answers let fly. The rule itself is test/model/window.ts. */
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { gatherAnswers } from '../../../src/delivery/queue/answers.ts';
import { freeSlots } from '../../../src/delivery/queue/arrivals.ts';
import { armLanes } from '../../support/arm-lanes.ts';
import { setCap } from '../../../src/delivery/queue/orders/cap.ts';
import { nextWindow, type Pace } from '../../model/window.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { SILENCE, startHeldPoller } from '../../support/held-poller.ts';
import { useOneWebhook } from '../../support/one-webhook.ts';
import { commitEvents } from '../../support/outbox.ts';

const CASES = 2_000;
const REFUSED = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 503 } as const;

let startMs: number;

const { pool, sql, partnerId, webhookId } = await useOneWebhook();
beforeEach(() => {
  startMs = Date.now() + 60_000;
});

const start = (name: string) => startHeldPoller(pool, name, 512, startMs);
const readWindow = async () => (await sql<[{ size: number }]>`select window_size as size from lanes`)[0].size;

test('next_window says what the model says, whatever it is asked', async () => {
  const upTo = (max: number, min = 0) => fc.integer({ min: min * 1_000, max: max * 1_000 }).map((n) => n / 1_000);
  const size = fc.oneof(fc.integer({ min: 1, max: 80 }), upTo(80, 1));
  const cases = fc.sample(
    fc.record({
      ceiling: fc.integer({ min: 1, max: 100 }),
      inFlight: fc.integer({ min: 0, max: 90 }),
      isSilent: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      good: fc.integer({ min: 0, max: 60 }),
      bad: fc.integer({ min: 0, max: 9 }).map((n) => (n > 5 ? n - 5 : 0)),
      goodMs: fc.integer({ min: 0, max: 10_000 }),
      fits: fc.boolean(),
      window: size,
      quickTo: fc.option(size),
      answers: upTo(64),
      answersMs: upTo(10_000),
      bestMs: fc.option(upTo(200)),
    }),
    { numRuns: CASES, seed: 4_711 },
  );
  const asked = cases.map(({ fits, ...one }) => {
    const filled = Math.floor(Math.max(1, Math.min(one.window, one.ceiling)));
    return Object.assign(one, fits && { inFlight: filled });
  });
  const rows = await sql<Pace[]>`
    select n.window_size as window, n.quick_to as "quickTo", n.answers, n.answers_ms as "answersMs", n.best_ms as "bestMs"
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as c (
      ceiling int, "inFlight" int, "isSilent" boolean, good int, bad int, "goodMs" float8,
      "window" float8, "quickTo" float8, answers float8, "answersMs" float8, "bestMs" float8)
    cross join lateral next_window(ceiling, "inFlight", "isSilent", good, bad, "goodMs",
                                   "window", "quickTo", c.answers, "answersMs", "bestMs") n`;
  expect(Array.from(rows)).toEqual(
    asked.map(({ ceiling, window, quickTo, answers, answersMs, bestMs, ...told }) =>
      nextWindow({ window, quickTo, answers, answersMs, bestMs }, ceiling, told),
    ),
  );
});

describe('what a record tells of answers', () => {
  const tell = (...results: (number | null)[]) =>
    gatherAnswers(
      results.map((statusCode) => ({ webhookId, partnerId, result: { ...DELIVERED, statusCode, durationMs: 5 } })),
    );

  test.each([200, 204, 302, 400, 404, 410])('%i came well', (status) => {
    expect(tell(status, status)).toEqual([{ webhookId, partnerId, isSilent: false, good: 2, bad: 0, goodMs: 10 }]);
  });

  test.each([429, 502, 503, 504])('%i is too much', (status) => {
    expect(tell(status, 200)).toEqual([{ webhookId, partnerId, isSilent: false, good: 1, bad: 1, goodMs: 5 }]);
  });

  test('any other failure of the receiver says nothing, and no answer is silence', () => {
    expect(tell(500, 501, null)).toEqual([{ webhookId, partnerId, isSilent: true, good: 0, bad: 0, goodMs: 0 }]);
  });
});

describe('the window of a lane', () => {
  test('takes any number of answers that took no time at all', async () => {
    await sql`update lanes set in_flight = 8, window_size = 8, max_in_flight = 8`;
    await sql`
      insert into arrivals (webhook_id, partner_id, kind, good, bad, good_ms) values (${webhookId}, ${partnerId}, 'slot_free', 1, 0, 0)`;
    for (let round = 0; round < 12; round += 1) {
      await freeSlots(sql, [{ webhookId, partnerId, good: 1_000_000_000, goodMs: 0 }]);
      await armLanes(sql, new Date(startMs));
    }
    expect(await sql`select answers, answers_ms as ms, best_ms as best from lanes`).toEqual([
      { answers: 64, ms: 64, best: 1 },
    ]);
  });

  test('grows to the ceiling over all pollers, and no further', async () => {
    await commitEvents(sql, partnerId, 200);
    await setCap(sql, webhookId, 20);
    const [one, other] = [start('one'), start('other')];
    const seen: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      await one.fill(round);
      await other.fill(round);
      seen.push(one.flying() + other.flying());
      for (const poller of [one, other]) await poller.end(DELIVERED);
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
    expect(await readWindow()).toBe(8);
  });

  test('falls by what was refused, once for each poller that tells of it together', async () => {
    await commitEvents(sql, partnerId, 60);
    await sql`update lanes set window_size = 40`;
    const [one, other] = [start('one'), start('other')];
    await one.fill();
    await one.end(REFUSED, '', 1);
    await one.end(REFUSED, '', 1);
    await other.fill(1);
    expect(await readWindow()).toBe(30);
    expect(one.flying() + other.flying()).toBe(38);
    await one.end(REFUSED, '', 2);
    await other.fill(2);
    expect(await readWindow()).toBe(30);
  });

  test('is one slot after silence, also of one of many, and of those that fly already none is taken back', async () => {
    await commitEvents(sql, partnerId, 60);
    await sql`update lanes set window_size = 40`;
    const one = start('one');
    await one.fill();
    await one.end(SILENCE, '', 1);
    await one.end(DELIVERED, '', 9);
    await one.fill(1);
    expect(await readWindow()).toBe(1);
    expect(one.flying()).toBe(30);
  });

  test('is no more than at first while an attempt lingers, and itself again when that is over', async () => {
    await commitEvents(sql, partnerId, 1);
    await setCap(sql, webhookId, 40);
    await sql`update lanes set window_size = 40`;
    const [one, lingering] = [start('one'), start('lingering')];
    await lingering.fill();
    await commitEvents(sql, partnerId, 200);
    for (const [atS, flying] of [
      [4, 39],
      [4.9, 39],
      [5, 7],
      [20, 7],
    ] as const) {
      await one.fill(atS);
      expect(one.flying()).toBe(flying);
      await one.end(DELIVERED);
    }
    await lingering.end(DELIVERED);
    await one.fill(21);
    expect(one.flying()).toBe(40);
  });

  test('moves by what was told of while a claim held its lane', async () => {
    await commitEvents(sql, partnerId, 1);
    await armLanes(sql, new Date(startMs));
    await sql`update lanes set window_size = 40, in_flight = 40`;
    await sql.begin(async (claiming) => {
      await claiming`select from lanes for update`;
      await freeSlots(sql, [{ webhookId, partnerId, good: 3, bad: 12, goodMs: 150 }]);
      await armLanes(sql, new Date(startMs));
      expect(await readWindow()).toBe(40);
    });
    await armLanes(sql, new Date(startMs));
    expect(await readWindow()).toBe(28);
  });
});
