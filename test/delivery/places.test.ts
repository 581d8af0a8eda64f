import { expect, test } from 'vitest';
import { Places } from '../../src/delivery/places.ts';

const flights = (claim: string, partnerId: string, count: number) =>
  Array.from({ length: count }, () => ({ claim, partnerId }));
const partners = (partnerId: string, count: number) => Array.from({ length: count }, () => ({ partnerId }));

test('a partner is told of while it holds eight places or more, and an eighth of all is kept for the others', () => {
  const places = new Places(100);
  places.take('p/1', [...partners('a', 7), ...partners('b', 20)], 0);
  places.take('p/2', partners('a', 1), 0);
  expect(places.shares()).toEqual({
    reserve: 12,
    holders: new Map([
      ['a', 8],
      ['b', 20],
    ]),
  });
  expect([places.held, places.free]).toEqual([28, 72]);

  places.letGo([...flights('p/1', 'a', 7), ...flights('p/1', 'b', 20)]);
  expect(places.shares().holders).toEqual(new Map());
  places.letGo(flights('p/2', 'a', 1));
  expect([places.held, places.free]).toEqual([0, 100]);
});

test('a claim waits for a part of those places alone that what hangs leaves', () => {
  const places = new Places(100);
  places.take('hanging/1', partners('a', 80), 0);
  expect(places.hasFree(1 / 4, 999)).toBe(false);
  expect(places.hasFree(1 / 4, 1_000)).toBe(true);

  places.take('young/1', partners('b', 16), 1_000);
  expect(places.hasFree(1 / 4, 1_999)).toBe(false);
  places.letGo(flights('young/1', 'b', 1));
  expect(places.hasFree(1 / 4, 1_999)).toBe(true);

  // What of it has ended does not linger.
  places.letGo(flights('hanging/1', 'a', 80));
  expect(places.hasFree(86 / 100, 1_999)).toBe(false);
  expect(places.hasFree(85 / 100, 1_999)).toBe(true);
});
