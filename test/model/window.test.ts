import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FIRST_WINDOW, NEW_PACE, nextWindow, type Pace, type Reported } from '../../src/delivery/queue/window.ts';
import { deliver, logNormal, type Receiver } from './window-world.ts';

const pace: fc.Arbitrary<Pace> = fc
  .record({
    window: fc.double({ min: 1, max: 1_000, noNaN: true }),
    quickTo: fc.option(fc.double({ min: 1, max: 1_000, noNaN: true })),
    answers: fc.double({ min: 0, max: 64, noNaN: true }),
    meanMs: fc.integer({ min: 0, max: 30_000 }),
    bestMs: fc.option(fc.double({ min: 0, max: 30_000, noNaN: true })),
  })
  .map(({ window, quickTo, answers, meanMs, bestMs }) => {
    return { window, quickTo, answers, answersMs: answers * meanMs, bestMs };
  });
const ceiling = fc.integer({ min: 1, max: 1_000 });
const reported: fc.Arbitrary<Reported> = fc.record({
  inFlight: fc.integer({ min: 0, max: 1_000 }),
  isSilent: fc.boolean(),
  good: fc.integer({ min: 0, max: 512 }),
  bad: fc.integer({ min: 0, max: 512 }),
  goodMs: fc.integer({ min: 0, max: 1_000_000 }),
});

const calm: Receiver = (_held, random) => ({ says: 'good', tookMs: logNormal(random, 50, 0.8) });
const holding =
  (most: number): Receiver =>
  (held, random, atMs) =>
    held >= most ? { says: 'bad', tookMs: 2 } : calm(held, random, atMs);

describe('a window', () => {
  test('is never outside 1 to the ceiling', () => {
    fc.assert(
      fc.property(pace, ceiling, reported, (before, most, what) => {
        const { window } = nextWindow(before, most, what);
        expect(window).toBeGreaterThanOrEqual(1);
        expect(window).toBeLessThanOrEqual(most);
      }),
    );
  });

  test('is never raised by what is bad or stays out, and is 1 after silence', () => {
    fc.assert(
      fc.property(pace, ceiling, reported, (before, most, what) => {
        const bad = { ...what, bad: what.bad + 1 };
        expect(nextWindow(before, most, bad).window).toBeLessThanOrEqual(before.window);
        expect(nextWindow(before, most, { ...bad, isSilent: true }).window).toBe(1);
      }),
    );
  });

  test('is never raised while it is not the limit, nor lowered by good answers while their times are steady', () => {
    fc.assert(
      fc.property(pace, ceiling, reported, (before, most, what) => {
        const size = Math.min(before.window, most);
        const good = { ...what, isSilent: false, bad: 0, good: what.good + 1 };
        const used = { ...good, inFlight: Math.floor(size) - 1 };
        expect(nextWindow(before, most, used).window).toBeLessThanOrEqual(before.window);
        const steady = { ...before, answersMs: before.answers * 50, bestMs: 50 };
        expect(nextWindow(steady, most, { ...good, goodMs: good.good * 50 }).window).toBeGreaterThanOrEqual(size);
      }),
    );
  });

  test('falls once for all that was in flight together, however many flushes tell of it', () => {
    let lane: Pace = { ...NEW_PACE, window: 40 };
    for (let inFlight = 40; inFlight > 30; inFlight -= 1) {
      lane = nextWindow(lane, 64, { inFlight, isSilent: false, good: 0, bad: 1, goodMs: 0 });
    }
    expect(lane.window).toBe(30);
  });

  test('stays the first one until 32 answers were measured', () => {
    let lane: Pace = NEW_PACE;
    for (let answers = 0; answers < 31; answers += 1) {
      lane = nextWindow(lane, 64, { inFlight: FIRST_WINDOW, isSilent: false, good: 1, bad: 0, goodMs: 50 });
    }
    expect(lane).toMatchObject({ window: FIRST_WINDOW, bestMs: null });
    expect(nextWindow(lane, 64, { inFlight: 8, isSilent: false, good: 1, bad: 0, goodMs: 50 }).window).toBe(9);
  });

  test.each([
    ['silence', { isSilent: true, bad: 0 }, 20],
    ['refusals', { isSilent: false, bad: 1_000 }, 80],
  ])('is the ceiling again after %s, when it was filled so many times', (_what, fall, rounds) => {
    const measured: Pace = { window: 64, quickTo: null, answers: 64, answersMs: 3_200, bestMs: 50 };
    let lane = nextWindow(measured, 64, { inFlight: 64, good: 0, goodMs: 0, ...fall });
    expect(lane.window).toBe(1);
    let filled = 0;
    for (; lane.window < 64; filled += 1) {
      const good = Math.floor(lane.window);
      lane = nextWindow(lane, 64, { inFlight: good, isSilent: false, good, bad: 0, goodMs: good * 50 });
    }
    expect(filled).toBeLessThanOrEqual(rounds);
  });
});

describe('a webhook with much due', () => {
  test.each([1, 2, 3])(
    'whose answers take 50 ms, more or less, has its ceiling within 2 s and keeps it (%i)',
    (seed) => {
      const { mean, perSecond } = deliver(calm, 64, 20, seed);
      expect(mean).toBeGreaterThan(60);
      expect(perSecond / deliver(calm, FIRST_WINDOW, 20, seed).perSecond).toBeGreaterThan(7);
    },
  );

  test.each([1, 2, 3])(
    'that holds 10 and refuses what is more, refuses less than a twentieth, and is busy (%i)',
    (seed) => {
      const { attempts, bad, mean } = deliver(holding(10), 64, 60, seed);
      expect(bad / attempts).toBeLessThan(0.03);
      expect(mean).toBeGreaterThan(9);
    },
  );

  test('whose times rise with what it holds is not sent all that the ceiling allows', () => {
    const four: Receiver = (held) => ({ says: 'good', tookMs: Math.max(1, (held + 1) / 4) * 50 });
    const { mean, perSecond } = deliver(four, 64, 60, 1);
    expect(mean).toBeLessThan(32);
    expect(perSecond).toBeGreaterThan(70);
  });

  test('that became four times as slow for good is sent as much at once as before, after a while', () => {
    const slower: Receiver = (_held, random, atMs) => ({
      says: 'good',
      tookMs: logNormal(random, atMs < 20_000 ? 50 : 200, 0.8),
    });
    expect(deliver(slower, 64, 90, 1).mean).toBeGreaterThan(45);
  });

  test('that leaves one of a hundred without an answer is sent more than with a window of 8', () => {
    const breaking: Receiver = (held, random, atMs) =>
      random.chance(0.01) ? { says: 'silence', tookMs: 500 } : calm(held, random, atMs);
    expect(deliver(breaking, 64, 60, 1).perSecond).toBeGreaterThan(deliver(breaking, 8, 60, 1).perSecond);
  });
});
