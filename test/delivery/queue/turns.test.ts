/** In what order a poller's lanes have their turns, where more have something than a poll reads. */
import { expect, test } from 'vitest';
import type { LaneSettings } from '../../../src/delivery/queue/lanes/kept-lane.ts';
import { KeptLanes } from '../../../src/delivery/queue/lanes/kept-lanes.ts';
import { Slots } from '../../../src/delivery/queue/slots.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const idOf = (n: number) => `00000000-0000-0000-0000-${n.toString(16).padStart(12, '0')}`;

function settingsOf(n: number, found: Partial<LaneSettings>): LaneSettings {
  return {
    webhookId: idOf(n),
    partnerId: idOf(n),
    url: 'https://partner.example/',
    encryptedSecret: Buffer.alloc(0),
    previousEncryptedSecret: null,
    previousUntil: null,
    signsFrom: null,
    encryptedCredentials: null,
    isActive: true,
    isMuted: false,
    isSingle: false,
    isInRun: false,
    hasAnswered: true,
    quietUntil: null,
    maxInFlight: 64,
    windowSize: 64,
    inOrder: false,
    resumesUntil: null,
    hasDue: false,
    retryAt: null,
    flying: [],
    ...found,
  };
}

test('lanes whose retries wait for a place in a poll come before those that have just had one', () => {
  const lanes = new KeptLanes();
  const retryAt = new Date(NOW_MS - 1_000);
  for (let n = 1; n <= 200; n += 1) lanes.keep(settingsOf(n, { retryAt }));
  const asked = new Set<string>();
  for (let poll = 1; poll <= 2; poll += 1) {
    const ask = lanes.plan(new Slots(4_096), NOW_MS);
    for (const hook of ask.hooks) asked.add(hook);
    const rows = ask.hooks.map((webhookId) => ({ kind: 'next' as const, webhookId, dueAt: retryAt.toISOString() }));
    lanes.apply(ask, rows, NOW_MS);
  }
  expect(asked.size).toBe(200);
});

test('loans whose flights have ended leave a place to other lanes, and the lanes of such loans take turns', () => {
  const lanes = new KeptLanes();
  const inOrder = [1, 2, 3];
  for (const n of inOrder) {
    const flying = Array.from({ length: 64 }, (_, at) => ({ id: idOf(1_000 * n + at), number: 1, loan: idOf(at) }));
    lanes.keep(settingsOf(n, { inOrder: true, flying }));
    for (const { id } of flying) lanes.complete(idOf(n), id, 1, null);
  }
  lanes.keep(settingsOf(4, { hasDue: true }));
  const polls = inOrder.map(() => lanes.plan(new Slots(4_096), NOW_MS));
  for (const { hooks } of polls) expect(hooks).toEqual([idOf(4)]);
  const asked = new Set(polls.flatMap(({ loans }) => loans?.asks.map(({ hook }) => hook) ?? []));
  expect([...asked].toSorted()).toEqual(inOrder.map(idOf));
});
