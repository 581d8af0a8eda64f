/** The turns of large bodies by themselves: who waits for whom. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns, type TakeTurn } from '../../src/http/body/large-bodies.ts';

/** Asks for `count` turns of `partnerId` and ends none; `begun` are those that have begun, in order. */
function askFor(takeTurn: TakeTurn, partnerId: string, count: number) {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const turns = Array.from({ length: count }, (_, index) => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    return takeTurn(partnerId, () => {
      begun.push(index);
      return ended;
    });
  });
  return { begun, turns, end: (index: number) => ends[index]?.() };
}

test('a partner has two turns at a time, and the third when one of them has ended', async () => {
  const { begun, turns, end } = askFor(createTurns(), 'a', 4);
  await nextTurn();
  expect(begun).toEqual([0, 1]);
  end(1);
  await turns[1];
  await nextTurn();
  expect(begun).toEqual([0, 1, 2]);
  for (const index of [0, 2, 3]) end(index);
  await Promise.all(turns);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('whoever waits for its own turns keeps nobody else waiting', async () => {
  const takeTurn = createTurns();
  const flood = askFor(takeTurn, 'a', 100);
  const other = askFor(takeTurn, 'b', 1);
  await nextTurn();
  expect([flood.begun.length, other.begun.length]).toEqual([2, 1]);
  other.end(0);
  for (let index = 0; index < 100; index++) flood.end(index);
  await Promise.all([...flood.turns, ...other.turns]);
});

test('all partners together have eight, and the ninth comes when any has ended', async () => {
  const takeTurn = createTurns();
  const partners = ['a', 'b', 'c', 'd', 'e'].map((id) => askFor(takeTurn, id, 2));
  const begun = () => partners.map((partner) => partner.begun.length);
  await nextTurn();
  expect(begun()).toEqual([2, 2, 2, 2, 0]);
  partners[2]?.end(0);
  await partners[2]?.turns[0];
  await nextTurn();
  expect(begun()).toEqual([2, 2, 2, 2, 1]);
  for (const partner of partners) for (const index of [0, 1]) partner.end(index);
  await Promise.all(partners.flatMap(({ turns }) => turns));
});

test('who gets no turn in time is told to come again, and holds up nobody afterwards', async () => {
  const takeTurn = createTurns(1);
  const { begun, turns, end } = askFor(takeTurn, 'a', 3);
  await expect(turns[2]).rejects.toMatchObject({ code: 'INDISPONIVEL', headers: { 'Retry-After': '5' } });
  end(0);
  end(1);
  await Promise.all(turns.slice(0, 2));
  expect(begun).toEqual([0, 1]);
  expect(await takeTurn('a', async () => 'served')).toBe('served');
});

test('a turn ends with what its work throws', async () => {
  const takeTurn = createTurns();
  const failing = async () => {
    throw new Error('broken');
  };
  for (let count = 0; count < 3; count++) await expect(takeTurn('a', failing)).rejects.toThrow('broken');
});
