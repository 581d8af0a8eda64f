import { describe, expect, test } from 'vitest';
import {
  consistencyPath,
  hashAt,
  inclusionPath,
  isConsistent,
  leafHash,
  levelAbove,
  type ReadHashes,
  rootByInclusion,
  rootOf,
} from '../../src/audit/seals/tree/merkle.ts';

const leaves = Buffer.concat(Array.from({ length: 70_000 }, (_, index) => leafHash(Buffer.from(String(index)))));
const levels = [leaves, levelAbove(leaves), levelAbove(levelAbove(leaves))];
const read: ReadHashes = (level, from, end) => {
  if (end - from > 256 || (end > from && from >> 8 !== (end - 1) >> 8)) throw new Error('not of one tile');
  return Promise.resolve((levels[level] as Buffer).subarray(from * 32, end * 32));
};
const first = (size: number) => leaves.subarray(0, size * 32);
const roots = new Map(
  [1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 511, 512, 513, 600, 65_535, 65_536, 65_537, 70_000].map((size) => [
    size,
    rootOf(first(size)),
  ]),
);

/** RFC 9162, 2.1.1, word for word. */
function mth(hashes: Buffer): Buffer {
  const count = hashes.length / 32;
  if (count === 1) return hashes;
  let k = 1;
  while (k * 2 < count) k *= 2;
  const halves = [mth(hashes.subarray(0, k * 32)), mth(hashes.subarray(k * 32))];
  return rootOf(Buffer.concat(halves));
}

const SIZES = [...roots.keys()];

describe('the tree', () => {
  test.each(SIZES)('has the root of RFC 9162 over %i leaves, and so has the level above', (size) => {
    const root = mth(first(size));
    expect(rootOf(first(size))).toEqual(root);
    expect(rootOf(levelAbove(first(size)))).toEqual(root);
  });

  test.each(SIZES)('proves each leaf of %i, and no other leaf at its place', async (size) => {
    const root = roots.get(size) as Buffer;
    const some = [0, 1, 2, size >> 1, size - 2, size - 1].filter((index) => index >= 0 && index < size);
    for (const index of new Set(some)) {
      const path = await inclusionPath(read, index, size);
      expect(path.length).toBeLessThanOrEqual(Math.ceil(Math.log2(size)));
      expect(rootByInclusion(hashAt(leaves, index), index, size, path)).toEqual(root);
      expect(rootByInclusion(hashAt(leaves, index + 1), index, size, path)).not.toEqual(root);
      expect(rootByInclusion(hashAt(leaves, index), index, size, [...path, root])).toBeNull();
      const shorter = rootByInclusion(hashAt(leaves, index), index, size, path.slice(1));
      expect(path.length === 0 || shorter === null).toBe(true);
    }
  });

  test('proves that one tree grew out of another, and not out of a third', async () => {
    for (const size of SIZES) {
      for (const old of SIZES.filter((each) => each <= size)) {
        const path = await consistencyPath(read, old, size);
        const [head, before] = [size, old].map((count) => ({ size: count, root: roots.get(count) as Buffer }));
        if (head === undefined || before === undefined) throw new Error('two heads');
        expect(isConsistent(before, head, path), `${old} in ${size}`).toBe(true);
        expect(isConsistent({ ...before, root: leafHash(before.root) }, head, path)).toBe(false);
        expect(isConsistent(before, { ...head, root: leafHash(head.root) }, path)).toBe(false);
        expect(path.length > 0 && isConsistent(before, head, path.slice(1))).toBe(false);
      }
    }
  });
});
