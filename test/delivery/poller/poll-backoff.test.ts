import { expect, test } from 'vitest';
import { PollBackoff, restsOf } from '../../../src/delivery/poller/poll-backoff.ts';

/** How long work gathers after a second in which `count` deliveries arrived every `everyMs`. */
function gatheringMs(count: number, everyMs: number, isPressed = false): number {
  const backoff = new PollBackoff();
  for (let atMs = 0; atMs <= 1_000; atMs += everyMs) backoff.observe(count, count, atMs);
  return backoff.gatheringMs(isPressed, 1_000);
}

test('work gathers where events come fast enough to make it worth the wait', () => {
  expect(gatheringMs(1, 2)).toBe(8);
  expect(gatheringMs(20, 10)).toBe(8);
});

test('an event that comes alone is claimed at once', () => {
  expect(new PollBackoff().gatheringMs(false, 0)).toBe(0);
  expect(gatheringMs(1, 10)).toBe(0);
  expect(gatheringMs(1, 20)).toBe(0);
});

test('nothing gathers while something waits for the next claim', () => {
  expect(gatheringMs(1, 2, true)).toBe(0);
});

test('nothing gathers for deliveries that lay due, however many are claimed', () => {
  const backoff = new PollBackoff();
  for (let atMs = 0; atMs <= 1_000; atMs += 10) backoff.observe(40, 1, atMs);
  expect(backoff.gatheringMs(false, 1_000)).toBe(0);
});

test('a claim waits for slots only while they come free so fast that the wait brings many', () => {
  const backoff = new PollBackoff();
  expect(backoff.slotsMs(0)).toBe(0);
  for (let atMs = 0; atMs <= 1_000; atMs += 10) backoff.observeFreed(10, atMs);
  expect(backoff.slotsMs(1_000)).toBe(0);
  for (let atMs = 1_000; atMs <= 2_000; atMs += 10) backoff.observeFreed(30, atMs);
  expect(backoff.slotsMs(2_000)).toBe(10);
  expect(backoff.slotsMs(2_200)).toBe(0);
});

test('a rush that is over is forgotten', () => {
  const backoff = new PollBackoff();
  for (let atMs = 0; atMs <= 1_000; atMs += 2) backoff.observe(1, 1, atMs);
  expect(backoff.gatheringMs(false, 2_000)).toBe(0);
});

test('a poller without work looks less and less often, and at once oftener again when there is some', () => {
  const backoff = new PollBackoff();
  const first = backoff.pollWait();
  backoff.observe(0, 0, 5_000);
  expect(backoff.pollWait().pollIntervalMs).toBeCloseTo(first.pollIntervalMs, 2);
  for (let poll = 0; poll < 100; poll += 1) backoff.observe(0, 0, 5_000 + poll * 100);
  expect(backoff.pollWait()).toEqual({ pollIntervalMs: 50, ms: 1000 });
  backoff.observe(1, 1, 20_000);
  expect(backoff.pollWait()).toEqual(first);
});

test('a poller behind the first rests the longer the further behind it is, unless lanes are free', () => {
  expect([4, 7, 8, 11, 12, 20, 1_000].map((rank) => restsOf(rank, false))).toEqual([1, 1, 2, 2, 3, 5, 5]);
  expect(restsOf(1_000, true)).toBe(1);
});
