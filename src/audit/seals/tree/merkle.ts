/**
 * The hash tree of RFC 9162, and its proofs of inclusion and of growth. Pure.
 *
 * Hashes lie in one buffer, in tiles: level 0 has the leaves, each hash of level n is the root of 256 of the level below. Each part
 * that a proof names begins at a multiple of its size, so it lies in one tile of each level.
 */
import { hash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';

export const HASH_BYTES = 32;
export const TILE = 256;
/** Bytes of four tiles, which take half a millisecond to hash. */
const PIECE = 4 * TILE * HASH_BYTES;

/** SHA-256 into 32 bytes of `target`: four times as fast as an own buffer for each hash. */
export function hashInto(target: Buffer, at: number, bytes: Buffer): void {
  target.write(hash('sha256', bytes, 'binary'), at, HASH_BYTES, 'latin1');
}

export function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

export function leafHash(entry: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.of(0), entry]));
}

const pair = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

function nodeHash(left: Buffer, right: Buffer): Buffer {
  left.copy(pair, 1);
  right.copy(pair, 1 + HASH_BYTES);
  return sha256(pair);
}

export function hashAt(hashes: Buffer, index: number): Buffer {
  return hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
}

export function countOf(hashes: Buffer): number {
  return hashes.length / HASH_BYTES;
}

/** The root of the tree over these hashes, at least one. */
export function rootOf(hashes: Buffer): Buffer {
  const level = Buffer.from(hashes);
  for (let count = countOf(hashes); count > 1; count = (count + 1) >> 1) {
    for (let index = 0; index + 1 < count; index += 2) {
      level.copy(pair, 1, index * HASH_BYTES, (index + 2) * HASH_BYTES);
      hashInto(level, (index >> 1) * HASH_BYTES, pair);
    }
    // The last one of an odd number goes up unchanged.
    if (count % 2 === 1) level.copy(level, (count >> 1) * HASH_BYTES, (count - 1) * HASH_BYTES, count * HASH_BYTES);
  }
  return Buffer.from(hashAt(level, 0));
}

/** The roots of each 256 hashes; the last ones may be fewer. */
export function levelAbove(hashes: Buffer): Buffer {
  const roots: Buffer[] = [];
  for (let at = 0; at < hashes.length; at += TILE * HASH_BYTES) {
    roots.push(rootOf(hashes.subarray(at, at + TILE * HASH_BYTES)));
  }
  return Buffer.concat(roots);
}

/** {@link levelAbove} of many hashes: the event loop has its turn after each piece. */
export async function levelAboveInPieces(hashes: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < hashes.length; at += PIECE) {
    pieces.push(levelAbove(hashes.subarray(at, at + PIECE)));
    await nextTick();
  }
  return Buffer.concat(pieces);
}

/** The hashes `from` to before `end` of a level, all of one tile. */
export type ReadHashes = (level: number, from: number, end: number) => Promise<Buffer>;

/** The largest power of two below `count`, which is at least 2. */
function splitOf(count: number): number {
  return 2 ** Math.ceil(Math.log2(count) - 1);
}

/** The root of the leaves `from` to before `end`; `from` is a multiple of a power of two that is not below their number. */
export async function rangeRoot(read: ReadHashes, from: number, end: number): Promise<Buffer> {
  let [level, span] = [0, 1];
  while (span * TILE <= end - from) [level, span] = [level + 1, span * TILE];
  const full = Math.floor(end / span);
  const hashes = await read(level, from / span, full);
  const rest = full * span < end ? [await rangeRoot(read, full * span, end)] : [];
  return rootOf(Buffer.concat([hashes, ...rest]));
}

/** The path that proves leaf `index` in the tree of the first `size` leaves, the lowest hash first. */
export async function inclusionPath(read: ReadHashes, index: number, size: number): Promise<Buffer[]> {
  const path: Buffer[] = [];
  for (let [from, end] = [0, size]; end - from > 1;) {
    const middle = from + splitOf(end - from);
    if (index < middle) {
      path.unshift(await rangeRoot(read, middle, end));
      end = middle;
    } else {
      path.unshift(await rangeRoot(read, from, middle));
      from = middle;
    }
  }
  return path;
}

/** The path that proves that the tree of `size` leaves grew out of that of its first `old`, at least 1; empty if they are equal. */
export async function consistencyPath(read: ReadHashes, old: number, size: number): Promise<Buffer[]> {
  const path: Buffer[] = [];
  let [from, end] = [0, size];
  while (old < end) {
    const middle = from + splitOf(end - from);
    if (old <= middle) {
      path.unshift(await rangeRoot(read, middle, end));
      end = middle;
    } else {
      path.unshift(await rangeRoot(read, from, middle));
      from = middle;
    }
  }
  // The old tree is a part of the new one of its own when it begins at 0: its root is then known to who checks.
  return from === 0 ? path : [await rangeRoot(read, from, end), ...path];
}

/** The root that leaf `index` of `size` leads to by this path (RFC 9162, 2.1.3.2); null when the path has another length. */
export function rootByInclusion(leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer | null {
  if (index >= size) return null;
  let [own, last, root] = [index, size - 1, leaf];
  for (const hashed of path) {
    if (last === 0) return null;
    if (own % 2 === 1 || own === last) {
      root = nodeHash(hashed, root);
      while (own % 2 === 0 && own !== 0) [own, last] = [half(own), half(last)];
    } else {
      root = nodeHash(root, hashed);
    }
    [own, last] = [half(own), half(last)];
  }
  return last === 0 ? root : null;
}

const half = (number: number): number => Math.floor(number / 2);

export interface TreeHead {
  readonly size: number;
  readonly root: Buffer;
}

/** True when the path proves that `head` grew out of `old` (RFC 9162, 2.1.4.2). */
export function isConsistent(old: TreeHead, head: TreeHead, path: readonly Buffer[]): boolean {
  if (old.size === head.size) return path.length === 0 && old.root.equals(head.root);
  if (old.size < 1 || old.size > head.size) return false;
  const [first, ...rest] = Number.isInteger(Math.log2(old.size)) ? [old.root, ...path] : path;
  if (first === undefined) return false;
  let [own, last] = [old.size - 1, head.size - 1];
  while (own % 2 === 1) [own, last] = [half(own), half(last)];
  let [before, root] = [first, first];
  for (const hashed of rest) {
    if (last === 0) return false;
    if (own % 2 === 1 || own === last) {
      before = nodeHash(hashed, before);
      root = nodeHash(hashed, root);
      while (own % 2 === 0 && own !== 0) [own, last] = [half(own), half(last)];
    } else {
      root = nodeHash(root, hashed);
    }
    [own, last] = [half(own), half(last)];
  }
  return last === 0 && before.equals(old.root) && root.equals(head.root);
}
