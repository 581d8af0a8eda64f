import { expect, test } from 'vitest';
import { Cores } from '../../../src/delivery/poller/cores.ts';

/** Of a machine whose cores were idle for so many milliseconds in each of these half seconds. */
function askedEachHalfSecond(...idle: readonly number[]): boolean[] {
  let idleMs = 40_000;
  const cores = new Cores(1_000, () => idleMs);
  return idle.map((ms, turn) => {
    idleMs += ms;
    return cores.hasSpare(1_500 + turn * 500);
  });
}

test('a core is to spare while at least half of one is idle, however many there are', () => {
  expect(askedEachHalfSecond(250, 249, 0, 1_000, 4_000)).toEqual([true, false, false, true, true]);
});

test('what happened in less than 200 ms says nothing yet', () => {
  const cores = new Cores(1_000, () => 0);
  expect(cores.hasSpare(1_100)).toBe(true);
  expect(cores.hasSpare(1_200)).toBe(false);
  expect(cores.hasSpare(1_300)).toBe(false);
});
