/** The turns of large bodies by themselves: who waits for whom. */
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSemaphore, type Acquire } from '../../src/http/body/large-bodies.ts';

/** Asks for `count` turns of `partnerId` and ends none; `begun` are those that have begun, in order. */
function askFor(acquire: Acquire, partnerId: string, count: number) {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const turns = Array.from({ length: count }, (_, index) => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    return acquire(partnerId, () => {
      begun.push(index);
      return ended;
    });
  });
  return { begun, turns, end: (index: number) => ends[index]?.() };
}

test('whoever waits for its own turns keeps nobody else waiting', async () => {
  const acquire = createSemaphore();
  const flood = askFor(acquire, 'a', 100);
  const other = askFor(acquire, 'b', 1);
  await nextTick();
  expect([flood.begun.length, other.begun.length]).toEqual([2, 1]);
  other.end(0);
  for (let index = 0; index < 100; index++) flood.end(index);
  await Promise.all([...flood.turns, ...other.turns]);
});

test('all partners together have eight, and the ninth comes when any has ended', async () => {
  const acquire = createSemaphore();
  const partners = ['a', 'b', 'c', 'd', 'e'].map((id) => askFor(acquire, id, 2));
  const begun = () => partners.map((partner) => partner.begun.length);
  await nextTick();
  expect(begun()).toEqual([2, 2, 2, 2, 0]);
  partners[2]?.end(0);
  await partners[2]?.turns[0];
  await nextTick();
  expect(begun()).toEqual([2, 2, 2, 2, 1]);
  for (const partner of partners) for (const index of [0, 1]) partner.end(index);
  await Promise.all(partners.flatMap(({ turns }) => turns));
});

test('a turn ends with what its work throws', async () => {
  const acquire = createSemaphore();
  const failing = async () => {
    throw new Error('broken');
  };
  for (let count = 0; count < 3; count++) await expect(acquire('a', failing)).rejects.toThrow('broken');
});
