import { expect, test } from 'vitest';
import { Rhythm } from '../../../src/delivery/poller/rhythm.ts';

/** A rhythm that has heard of `count` deliveries every `everyMs` for a second. */
function after(count: number, everyMs: number): Rhythm {
  const rhythm = new Rhythm();
  for (let atMs = 0; atMs <= 1_000; atMs += everyMs) rhythm.hear(count, atMs);
  return rhythm;
}

test('work gathers where events come fast enough to make it worth the wait', () => {
  expect(after(1, 2).gatheringMs(false)).toBe(8);
  expect(after(20, 10).gatheringMs(false)).toBe(8);
});

test('an event that comes alone is claimed at once', () => {
  expect(new Rhythm().gatheringMs(false)).toBe(0);
  expect(after(1, 10).gatheringMs(false)).toBe(0);
  expect(after(1, 20).gatheringMs(false)).toBe(0);
});

test('nothing gathers while something waits for the next claim', () => {
  expect(after(1, 2).gatheringMs(true)).toBe(0);
});

test('a rush that is over is forgotten', () => {
  const rhythm = after(1, 2);
  rhythm.hear(0, 2_000);
  rhythm.hear(1, 2_010);
  expect(rhythm.gatheringMs(false)).toBe(0);
});

test('a poller waits no longer than 20 ms while a partner has its share, however long there was no work', () => {
  const rhythm = new Rhythm();
  expect(rhythm.patience(true)).toEqual({ ms: 20, napMs: rhythm.patience().napMs });
  for (let turn = 0; turn < 100; turn += 1) rhythm.hear(0, 5_000 + turn * 100);
  expect(rhythm.patience(true)).toEqual({ ms: 20, napMs: 20 });
});

test('a poller without work looks less and less often, and at once oftener again when there is some', () => {
  const rhythm = new Rhythm();
  const first = rhythm.patience();
  rhythm.hear(0, 5_000);
  expect(rhythm.patience().napMs).toBeCloseTo(first.napMs, 2);
  for (let turn = 0; turn < 100; turn += 1) rhythm.hear(0, 5_000 + turn * 100);
  expect(rhythm.patience()).toEqual({ napMs: 50, ms: 1000 });
  rhythm.hear(1, 20_000);
  expect(rhythm.patience()).toEqual(first);
});

test('a poller behind others takes what has waited 100 ms for each of them, or a second', () => {
  const rhythm = new Rhythm();
  expect(rhythm.patience(false, 2)).toMatchObject({ ms: 2_000, lagMs: 200 });
  expect(rhythm.patience(true, 30)).toMatchObject({ ms: 20, lagMs: 1_000 });
  expect(rhythm.patience(false, 0)).not.toHaveProperty('lagMs');
});
