/** What hangs leaves slots to others: a partner has a part of a poller's, a webhook that does not answer has one. */
import { beforeEach, describe, expect, test } from 'vitest';
import { askForConsent } from '../../model/consent-checks.ts';
import { fallSilent, shareOut } from '../../model/fairness.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { SILENCE, startHeldPoller } from '../../support/held-poller.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { commitEvents, insertPartner, insertWebhook } from '../../support/outbox.ts';

const CAPACITY = 64;

let startMs: number;
const { pool, sql } = await useEmptyDatabase();
beforeEach(() => {
  // Later than whatever a test commits.
  startMs = Date.now() + 60_000;
});

/** A partner with `webhooks` of the URL, and `events` that each of them is sent. */
async function subscribe(url: string, webhooks: number, events: number): Promise<string> {
  const partnerId = await insertPartner(sql);
  for (let webhook = 0; webhook < webhooks; webhook += 1) await insertWebhook(sql, partnerId, url);
  await commitEvents(sql, partnerId, events);
  return partnerId;
}

const start = (name = 'one', capacity = CAPACITY) => startHeldPoller(pool, name, capacity, startMs);

describe('a partner', () => {
  test('has its share of the slots, the others theirs, and everything arrives', () =>
    expect(shareOut(pool, sql)).resolves.toBeUndefined());

  test('that came later, when all of several hang who came before, is served at the next turn', async () => {
    for (let partner = 0; partner < 3; partner += 1) await subscribe('https://hangs.example/', 10, 8);
    const poller = start('one', 128);
    await poller.fill();
    // The first one all that it wants, the second what leaves a 16th of it, the third a few.
    expect(poller.flying()).toBe(118);
    await subscribe('https://answers.example/', 1, 3);
    expect(await poller.tick(1)).toBe(3);
    expect(poller.flying('https://answers')).toBe(3);
  });

  test('that reaches its share in a claim hides nobody from it, however many of its lanes wait', async () => {
    const poller = start('one', 128);
    for (const [poll, url] of ['https://first.hangs.example/', 'https://second.hangs.example/'].entries()) {
      await subscribe(url, 200, 1);
      await poller.fill(poll);
    }
    await subscribe('https://answers.example/', 5, 1);
    await poller.end(SILENCE, 'https://first.hangs', 30);
    // At least one of its lanes in each turn.
    for (let poll = 0; poll < 10; poll += 1) await poller.tick(2);
    expect(poller.flying('https://answers')).toBe(5);
  });

  test('gets what another one gives back that holds more, until both have the same', async () => {
    await subscribe('https://first.example/', 30, 30);
    const poller = start('one', 256);
    await poller.fill();
    await subscribe('https://second.example/', 30, 20);
    await poller.fill(5);
    expect(poller.flying('https://first')).toBeGreaterThan(200);
    expect(poller.flying('https://second')).toBeLessThan(20);
    // All within a lease: what is held for longer is taken over beside the turns, and no turn waits for that.
    for (let atS = 6; atS < 36; atS += 1) {
      await poller.end(DELIVERED, 'https://first', 20);
      await poller.fill(atS);
    }
    expect(poller.flying('https://first')).toBeLessThan(120);
    expect(poller.flying('https://second')).toBeGreaterThan(90);
  });

  test('is served again at the very time at which its slots are let go', async () => {
    await subscribe('https://partner.example/', 20, 8);
    const poller = start();
    await poller.fill();
    await poller.end(DELIVERED, 'https://partner', 20);
    await poller.fill();
    expect(poller.flying()).toBe(52);
  });
});

describe('a webhook that left an attempt without an answer', () => {
  test('has one slot until it answers, whatever it says', () => expect(fallSilent(pool, sql)).resolves.toBeUndefined());

  test('has it also at whoever keeps its lane after that, and twice as many with each that it answers', async () => {
    await subscribe('https://hangs.example/', 1, 30);
    await sql`update lanes set max_in_flight = 12, window_size = 12`;
    const one = start('one');
    await one.fill();
    expect(one.flying()).toBe(12);
    await one.end(SILENCE);
    await one.drain();
    const later = start('later');
    for (const slots of [1, 2, 4]) {
      await later.fill(slots);
      expect(later.flying()).toBe(slots);
      await later.end(DELIVERED);
    }
  });

  test('has its lane written when it is handed back, and for no answer', async () => {
    await subscribe('https://partner.example/', 1, 2);
    const poller = start();
    await poller.fill();
    const version = async () => (await sql`select xmin::text from lanes`)[0];
    const before = await version();
    await poller.end(SILENCE);
    await poller.fill(1);
    expect(await version()).toEqual(before);
  });
});

test('a webhook whose URL has not answered 2xx yet has one slot over all pollers, and later one a minute', () =>
  expect(askForConsent(pool, sql)).resolves.toBeUndefined());
