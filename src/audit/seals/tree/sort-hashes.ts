/**
 * Sorts hashes by their bytes, in place. They are as if random: the first bits choose a bucket of about one. The sealer sorts some
 * MiB of them in the process that delivers, so the event loop has its turn after each piece.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { HASH_BYTES } from './merkle.ts';

/** Hashes that are moved in a piece. */
const PIECE = 8_192;

/** `hashes` begins at a multiple of four bytes; with a `width`, a multiple of four, so many bytes belong to each. */
export async function sortHashes(hashes: Buffer, width = HASH_BYTES): Promise<void> {
  const words = new Uint32Array(hashes.buffer, hashes.byteOffset, hashes.length / 4);
  const rows = hashes.length / width;
  const shift = 16 - Math.min(16, Math.ceil(Math.log2(rows + 1)));
  const bucketOf = (row: number) => hashes.readUInt16BE(row * width) >>> shift;
  const ends = new Uint32Array(1 << (16 - shift));
  for (let row = 0; row < rows; row += 1) ends[bucketOf(row)] = at(ends, bucketOf(row)) + 1;
  for (let bucket = 1; bucket < ends.length; bucket += 1) ends[bucket] = at(ends, bucket) + at(ends, bucket - 1);
  /** Of each bucket, where its next hash goes. */
  const next = new Uint32Array(ends.length);
  next.set(ends.subarray(0, -1), 1);
  for (let [bucket, start, moved] = [0, 0, 0]; bucket < ends.length; bucket += 1) {
    const end = at(ends, bucket);
    while (at(next, bucket) < end) {
      const row = at(next, bucket);
      const own = bucketOf(row);
      swap(words, row, at(next, own), width / 4);
      next[own] = at(next, own) + 1;
      moved += 1;
      if (moved % PIECE === 0) await nextTick();
    }
    sortFew(hashes, words, start, end, width);
    start = end;
  }
}

/** Each goes before those that come after it: there are one or two. */
function sortFew(hashes: Buffer, words: Uint32Array, start: number, end: number, width: number): void {
  for (let row = start + 1; row < end; row += 1) {
    for (let place = row; place > start && isAfter(hashes, (place - 1) * width, place * width); place -= 1)
      swap(words, place - 1, place, width / 4);
  }
}

function isAfter(hashes: Buffer, one: number, other: number): boolean {
  let [from, to] = [one, other];
  for (const end = from + HASH_BYTES - 1; from < end && hashes[from] === hashes[to]; from += 1) to += 1;
  return at(hashes, from) > at(hashes, to);
}

function swap(words: Uint32Array, one: number, other: number, count: number): void {
  for (let [from, to, left] = [one * count, other * count, count]; left > 0; left -= 1) {
    const word = at(words, from);
    words[from] = at(words, to);
    words[to] = word;
    from += 1;
    to += 1;
  }
}

function at(numbers: Uint8Array | Uint32Array, index: number): number {
  return numbers[index] as number;
}
