import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { digestOf, digestOfGroup, digestOfGroups, groupCount, groupOf, groupsOf } from '../../src/audit/seals/batch.ts';
import { brokenLink, chain, hashOf, NO_HASH, readHead, type Seal, writeHead } from '../../src/audit/seals/chain.ts';

const at = new Date('2026-01-31T12:00:00.000Z');
const batch = (endTx: number) => ({ endEpoch: 1, endTx, rows: 2, digest: digestOf(Buffer.alloc(64, endTx)) });
const first = chain(null, batch(10), at);
const second = chain(first, batch(20), at);

/** A forger recomputes the seal's own hash. */
function forge(seal: Seal, change: Partial<Seal>): Seal {
  const changed = { ...seal, ...change };
  return { ...changed, hash: hashOf(changed) };
}

test('a chain fits from its beginning on', () => {
  expect(first).toMatchObject({ number: 1, firstEpoch: 0, firstTx: 0, previous: NO_HASH });
  expect([brokenLink(null, first), brokenLink(first, second)]).toEqual([null, null]);
});

test.each<[string, Partial<Seal>, string]>([
  ['another seal before it', { previous: Buffer.alloc(32, 1) }, 'does not continue'],
  ['another number', { number: 3 }, 'is missing'],
  ['a gap before its span', { firstTx: 11 }, 'does not begin where'],
  ['an epoch left out before it', { firstEpoch: 2 }, 'does not begin where'],
])('a seal with %s is broken although its own hash is right', (_, change, reason) => {
  expect(brokenLink(first, forge(second, change))).toContain(reason);
});

test.each<[string, Partial<Seal>]>([
  ['rows', { rows: 3 }],
  ['end', { endTx: 21 }],
  ['last epoch', { endEpoch: 2 }],
  ['digest', { digest: Buffer.alloc(32) }],
  ['time', { sealedAt: new Date(0) }],
])('the hash covers its %s', (_, change) => {
  expect(brokenLink(first, { ...second, ...change })).toContain('fields were changed');
});

test('a digest does not depend on the order in which rows were read, and tells every set of rows from others', () => {
  for (const rows of [1, 2, 3, 4, 17, 256, 5_000]) {
    const leaves = Array.from({ length: rows }, () => randomBytes(32));
    const digest = digestOf(Buffer.concat(leaves));
    expect(digestOf(Buffer.concat(leaves.toReversed()))).toEqual(digest);
    expect(digestOf(Buffer.concat([...leaves, ...leaves.slice(0, 1)]))).not.toEqual(digest);
    expect(digestOf(Buffer.concat([...leaves.slice(1), randomBytes(32)]))).not.toEqual(digest);
    expect(digestOf(Buffer.concat(leaves.slice(1)))).not.toEqual(digest);
  }
});

test('each leaf is in its group, in the order of its bytes, also beside one with the same first bits', () => {
  const twin = Buffer.concat([Buffer.alloc(4, 7), Buffer.alloc(28, 9)]);
  const leaves = [twin, Buffer.alloc(32, 7), ...Array.from({ length: 1_000 }, () => randomBytes(32))];
  const groups = groupsOf(Buffer.concat(leaves));
  expect(groups).toHaveLength(groupCount(leaves.length));
  for (const leaf of leaves) expect(groups[groupOf(leaf, leaves.length)]?.includes(leaf)).toBe(true);
  expect(Buffer.concat(groups)).toEqual(Buffer.concat(leaves.toSorted(Buffer.compare)));
  expect(digestOfGroups(groups.map(digestOfGroup))).toEqual(digestOf(Buffer.concat(leaves)));
});

test('a head is read as it was written, and nothing else is', () => {
  expect(readHead(writeHead(second))).toEqual({ number: 2, hash: second.hash });
  for (const text of ['', '0:', `0:${'a'.repeat(64)}`, `1:${'A'.repeat(64)}`, `1:${'a'.repeat(63)}`]) {
    expect(readHead(text)).toBeNull();
  }
});
