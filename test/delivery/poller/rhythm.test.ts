import { expect, test } from 'vitest';
import { Rhythm } from '../../../src/delivery/poller/rhythm.ts';

/** How long work gathers after a second in which `count` deliveries arrived every `everyMs`. */
function gatheringMs(count: number, everyMs: number, isPressed = false): number {
  const rhythm = new Rhythm();
  for (let atMs = 0; atMs <= 1_000; atMs += everyMs) rhythm.hear(count, count, atMs);
  return rhythm.gatheringMs(isPressed, 1_000);
}

test('work gathers where events come fast enough to make it worth the wait', () => {
  expect(gatheringMs(1, 2)).toBe(8);
  expect(gatheringMs(20, 10)).toBe(8);
});

test('an event that comes alone is claimed at once', () => {
  expect(new Rhythm().gatheringMs(false, 0)).toBe(0);
  expect(gatheringMs(1, 10)).toBe(0);
  expect(gatheringMs(1, 20)).toBe(0);
});

test('nothing gathers while something waits for the next claim', () => {
  expect(gatheringMs(1, 2, true)).toBe(0);
});

test('nothing gathers for deliveries that lay due, however many are claimed', () => {
  const rhythm = new Rhythm();
  for (let atMs = 0; atMs <= 1_000; atMs += 10) rhythm.hear(40, 1, atMs);
  expect(rhythm.gatheringMs(false, 1_000)).toBe(0);
});

test('a claim waits for slots only while they come free so fast that the wait brings many', () => {
  const rhythm = new Rhythm();
  expect(rhythm.slotsMs(0)).toBe(0);
  for (let atMs = 0; atMs <= 1_000; atMs += 10) rhythm.hearFreed(10, atMs);
  expect(rhythm.slotsMs(1_000)).toBe(0);
  for (let atMs = 1_000; atMs <= 2_000; atMs += 10) rhythm.hearFreed(30, atMs);
  expect(rhythm.slotsMs(2_000)).toBe(10);
  expect(rhythm.slotsMs(2_200)).toBe(0);
});

test('a rush that is over is forgotten', () => {
  const rhythm = new Rhythm();
  for (let atMs = 0; atMs <= 1_000; atMs += 2) rhythm.hear(1, 1, atMs);
  expect(rhythm.gatheringMs(false, 2_000)).toBe(0);
});

test('a poller without work looks less and less often, and at once oftener again when there is some', () => {
  const rhythm = new Rhythm();
  const first = rhythm.patience();
  rhythm.hear(0, 0, 5_000);
  expect(rhythm.patience().napMs).toBeCloseTo(first.napMs, 2);
  for (let turn = 0; turn < 100; turn += 1) rhythm.hear(0, 0, 5_000 + turn * 100);
  expect(rhythm.patience()).toEqual({ napMs: 50, ms: 1000 });
  rhythm.hear(1, 1, 20_000);
  expect(rhythm.patience()).toEqual(first);
});
