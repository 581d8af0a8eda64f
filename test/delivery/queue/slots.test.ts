import { expect, test } from 'vitest';
import { Slots } from '../../../src/delivery/queue/slots.ts';

const flights = (claim: string, partnerId: string, count: number) =>
  Array.from({ length: count }, () => ({ claim, partnerId }));
const partners = (partnerId: string, count: number) => Array.from({ length: count }, () => ({ partnerId }));

test('a partner is told of while it holds eight slots or more, and an eighth of all is kept for the others', () => {
  const slots = new Slots(100);
  slots.take('p/1', [...partners('a', 7), ...partners('b', 20)], 0);
  slots.take('p/2', partners('a', 1), 0);
  expect(slots.shares()).toEqual({
    reserve: 12,
    holders: new Map([
      ['a', 8],
      ['b', 20],
    ]),
    atShare: [],
  });
  expect([slots.held, slots.free]).toEqual([28, 72]);

  slots.letGo([...flights('p/1', 'a', 7), ...flights('p/1', 'b', 20)]);
  expect(slots.shares().holders).toEqual(new Map());
  slots.letGo(flights('p/2', 'a', 1));
  expect([slots.held, slots.free]).toEqual([0, 100]);
});

test('the share of a partner is 16 for each slot free beside the reserve and the next one, 8 at least', () => {
  const slots = new Slots(64);
  slots.take('p/1', partners('a', 52), 0);
  expect(slots.shares().atShare).toEqual(['a']);
  slots.letGo(flights('p/1', 'a', 1));
  expect(slots.shares().atShare).toEqual([]);
  slots.take('p/2', [...partners('b', 5), ...partners('c', 7)], 0);
  expect(slots.shares().atShare).toEqual(['a']);
  slots.take('p/3', partners('c', 1), 0);
  expect(slots.shares().atShare).toEqual(['a', 'c']);
});

test('a claim waits for a part of those slots alone that what hangs leaves', () => {
  const slots = new Slots(100);
  slots.take('hanging/1', partners('a', 80), 0);
  expect(slots.hasFree(1 / 4, 999)).toBe(false);
  expect(slots.hasFree(1 / 4, 1_000)).toBe(true);

  slots.take('young/1', partners('b', 16), 1_000);
  expect(slots.hasFree(1 / 4, 1_999)).toBe(false);
  slots.letGo(flights('young/1', 'b', 1));
  expect(slots.hasFree(1 / 4, 1_999)).toBe(true);

  // What of it has ended does not linger.
  slots.letGo(flights('hanging/1', 'a', 80));
  expect(slots.hasFree(86 / 100, 1_999)).toBe(false);
  expect(slots.hasFree(85 / 100, 1_999)).toBe(true);
});

test('a claim waits while there is no slot at all, also when every one of them is taken by what hangs', () => {
  const slots = new Slots(10);
  slots.take('hanging/1', partners('a', 10), 0);
  expect(slots.hasFree(1 / 4, 60_000)).toBe(false);
  slots.letGo(flights('hanging/1', 'a', 1));
  expect(slots.hasFree(1 / 4, 60_000)).toBe(true);
});
