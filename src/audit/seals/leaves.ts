/**
 * The leaves of a span's rows, in order, and for each column the sum of what its values hash to.
 *
 * The order is that of the leaves' bytes, so it does not depend on the order of reading, and a leaf's place follows nearly from
 * the leaf. The sums tell in which columns a changed row changed, which no leaf can. They are a hint, 4 bytes a column, and are not
 * sealed: nobody is believed for them. They hold nothing of what may be forgotten, because no entry does.
 */
import { HASH_BYTES, hashInto } from './merkle.ts';
import { columnsOf, type LogPoint, SOURCE_NAMES, type SourceName } from './rows.ts';

export interface Leaves {
  /** Sorted, one behind the other. */
  readonly hashes: Buffer;
  readonly sums: Buffer;
  readonly rows: number;
  /** The entry of the n-th leaf, without the zero byte. */
  entry(index: number): Buffer;
}

const WIDTH = 1 + Math.max(...SOURCE_NAMES.map((name) => columnsOf(name).length));
const PLACES = new Map(SOURCE_NAMES.map((name, place) => [name as string, place]));
const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Where each entry begins, with its zero byte, and at last where the bytes end. */
export function startsOf(bytes: Buffer): number[] {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length;) {
    starts.push(at);
    let left = bytes.readInt32BE(at + 1);
    for (at += 5; left > 0; left -= 1) at += 8 + Math.max(bytes.readInt32BE(at + 4), 0);
  }
  return [...starts, bytes.length];
}

/** The transaction and the epoch of the entry that ends at `end`: its last two columns. */
export function placeOf(bytes: Buffer, end: number): LogPoint {
  return { epoch: bytes.readInt16BE(end - 2), tx: Number(bytes.readBigUInt64BE(end - 18)) };
}

/** Hashes entries that `readEntries` read: all of `bytes`, or those `from` to before `end` of {@link startsOf}. */
export function leavesOf(bytes: Buffer, starts = startsOf(bytes), from = 0, end = starts.length - 1): Leaves {
  const sums = new Uint32Array(SOURCE_NAMES.length * WIDTH);
  const rows = end - from;
  const unsorted = Buffer.alloc(rows * HASH_BYTES);
  const startOf = (row: number): number => starts[from + row] ?? 0;
  for (let row = 0; row < rows; row += 1) {
    addUp(bytes, startOf(row) + 1, sums);
    hashInto(unsorted, row * HASH_BYTES, bytes.subarray(startOf(row), startOf(row + 1)));
  }
  const order = orderOf(unsorted);
  const hashes = Buffer.alloc(unsorted.length);
  for (const [place, row] of order.entries()) {
    unsorted.copy(hashes, place * HASH_BYTES, row * HASH_BYTES, (row + 1) * HASH_BYTES);
  }
  const entry = (index: number): Buffer =>
    bytes.subarray(startOf(order[index] ?? 0) + 1, startOf((order[index] ?? 0) + 1));
  return { hashes, sums: written(sums), rows, entry };
}

/** Adds the columns of the entry at `at` to `sums`. It runs for each byte of each row. */
function addUp(bytes: Buffer, at: number, sums: Uint32Array): void {
  const count = bytes.readInt32BE(at);
  const place = PLACES.get(bytes.toString('latin1', at + 12, at + 12 + bytes.readInt32BE(at + 8))) ?? 0;
  let next = at + 4;
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    const length = bytes.readInt32BE(next + 4);
    next += 8;
    const end = next + Math.max(length, 0);
    let hashed = FNV_START ^ length;
    for (; next < end; next += 1) hashed = Math.imul(hashed ^ (bytes[next] ?? 0), FNV_PRIME);
    const cell = place * WIDTH + ordinal;
    sums[cell] = (sums[cell] ?? 0) + hashed;
  }
}

/** The rows in the order of their hashes. Sorting numbers is ten times as fast as sorting buffers; equal prefixes are rare. */
function orderOf(hashes: Buffer): number[] {
  const rows = hashes.length / HASH_BYTES;
  // 48 bits of a hash would leave no room for the row beside them in an exact number, so both parts are sorted as one big integer.
  const keys = new BigUint64Array(rows);
  for (let row = 0; row < rows; row += 1) {
    keys[row] = (BigInt(hashes.readUIntBE(row * HASH_BYTES, 5)) << 24n) | BigInt(row);
  }
  keys.sort();
  const order = Array.from(keys, (key) => Number(key & 0xffffffn));
  const prefixOf = (row: number): number => hashes.readUIntBE(row * HASH_BYTES, 5);
  for (let start = 0; start < rows;) {
    let end = start + 1;
    while (end < rows && prefixOf(order[end] ?? 0) === prefixOf(order[start] ?? 0)) end += 1;
    if (end > start + 1) {
      const tied = order
        .slice(start, end)
        .toSorted((one, other) =>
          hashes.compare(
            hashes,
            other * HASH_BYTES,
            (other + 1) * HASH_BYTES,
            one * HASH_BYTES,
            (one + 1) * HASH_BYTES,
          ),
        );
      order.splice(start, tied.length, ...tied);
    }
    start = end;
  }
  return order;
}

/** Of each table that has rows: its place, then four bytes a column. */
function written(sums: Uint32Array): Buffer {
  return Buffer.concat(
    SOURCE_NAMES.flatMap((name, place) => {
      const own = sums.subarray(place * WIDTH, place * WIDTH + 1 + columnsOf(name).length);
      if (own.every((sum) => sum === 0)) return [];
      const bytes = Buffer.alloc(1 + own.length * 4, place);
      for (const [ordinal, sum] of own.entries()) bytes.writeUInt32BE(sum, 1 + ordinal * 4);
      return [bytes];
    }),
  );
}

/** The columns of a table whose sums differ. */
export function changedColumns(source: SourceName, sealed: Buffer, found: Buffer): string[] {
  const [before, after] = [sumsOf(source, sealed), sumsOf(source, found)];
  return columnsOf(source).filter((_, index) => before?.[index + 1] !== after?.[index + 1]);
}

function sumsOf(source: SourceName, bytes: Buffer): number[] | null {
  for (let at = 0; at < bytes.length;) {
    const name = SOURCE_NAMES[bytes[at] ?? 0];
    if (name === undefined) return null;
    const count = 1 + columnsOf(name).length;
    const end = at + 1 + count * 4;
    if (name === source && end <= bytes.length) {
      return Array.from({ length: count }, (_, ordinal) => bytes.readUInt32BE(at + 1 + ordinal * 4));
    }
    at = end;
  }
  return null;
}
