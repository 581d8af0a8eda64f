/**
 * The leaves of rows, in order, and for each column the sum of what its values hash to.
 *
 * The order is that of the leaves' bytes, so it does not depend on the order of reading, and a leaf's place follows nearly from
 * the leaf. The sums tell in which columns a changed row changed, which no leaf can. They are a hint of 4 bytes a column, are not
 * sealed, and prove nothing. They contain no text that may be erased, because no entry does.
 */
import { columnsOf, FRAMES, SOURCE_NAMES, type SourceName, withheldOf } from '../../db/sealed-rows.ts';
import { HASH_BYTES, hashInto } from './merkle.ts';

export interface Leaves {
  /** Sorted, one behind the other. */
  readonly hashes: Buffer;
  readonly rows: number;
}

const WIDTH = 1 + Math.max(...SOURCE_NAMES.map((name) => columnsOf(name).length));
const PLACES = new Map(SOURCE_NAMES.map((name, place) => [name as string, place]));
const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const FIRST_ROOM = 1_024;

/** A row as it is read: its leaf's place in `hashes`, and its entry in `bytes`. */
type OnRow = (hashes: Buffer, leafAt: number, bytes: Buffer, entryAt: number, entryEnd: number) => void;

/** The leaves of one span while they are read. */
class Gathered {
  hashes = Buffer.allocUnsafe(FIRST_ROOM * HASH_BYTES);
  rows = 0;

  /** Where the next leaf goes. */
  next(): number {
    const at = this.rows * HASH_BYTES;
    if (at === this.hashes.length) this.hashes = Buffer.concat([this.hashes, Buffer.allocUnsafe(at)]);
    this.rows += 1;
    return at;
  }
}

/**
 * Hashes entries one by one, as `readEntries` reads them, and keeps nothing of them but 32 bytes. The leaves belong to spans of
 * transactions that follow each other in one epoch; `ends` are their ends, and the last span takes whatever is left.
 */
export class LeafCollector {
  readonly #ends: readonly number[];
  readonly #spans: readonly Gathered[];
  readonly #onRow: OnRow | null;
  #current = 0;

  constructor(ends: readonly number[] = [Infinity], onRow: OnRow | null = null) {
    this.#ends = ends;
    this.#spans = ends.map(() => new Gathered());
    this.#onRow = onRow;
  }

  /** Adds the framed entry from `at` to `end` in `bytes`. */
  readonly add = (bytes: Buffer, at = 0, end = bytes.length): void => {
    const isWithheld = bytes[at] === FRAMES.withheld;
    const entryAt = at + 1 + (isWithheld ? HASH_BYTES : 0);
    const gathered = this.#spanOf(end - 18 < entryAt ? 0 : Number(bytes.readBigUInt64BE(end - 18)));
    const leafAt = gathered.next();
    if (isWithheld) bytes.copy(gathered.hashes, leafAt, at + 1, entryAt);
    else hashInto(gathered.hashes, leafAt, bytes.subarray(at, end));
    this.#onRow?.(gathered.hashes, leafAt, bytes, entryAt, end);
  };

  /** The leaves of each span, in order. */
  finish(): Leaves[] {
    return this.#spans.map(({ hashes, rows }) => {
      const unsorted = hashes.subarray(0, rows * HASH_BYTES);
      const sorted = Buffer.allocUnsafe(unsorted.length);
      for (const [place, row] of orderOf(unsorted).entries()) {
        unsorted.copy(sorted, place * HASH_BYTES, row * HASH_BYTES, (row + 1) * HASH_BYTES);
      }
      return { hashes: sorted, rows };
    });
  }

  /** Rows come nearly in the order of their transactions. */
  #spanOf(tx: number): Gathered {
    let [low, high] = [0, this.#ends.length - 1];
    const isHere =
      tx < (this.#ends[this.#current] ?? 0) && (this.#current === 0 || tx >= (this.#ends[this.#current - 1] ?? 0));
    if (!isHere) {
      while (low < high) {
        const middle = (low + high) >> 1;
        if (tx < (this.#ends[middle] ?? 0)) high = middle;
        else low = middle + 1;
      }
      this.#current = low;
    }
    return this.#spans[this.#current] as Gathered;
  }
}

/** The sums of the columns of all rows that are added. */
export class ColumnSums {
  readonly #sums = new Uint32Array(SOURCE_NAMES.length * WIDTH);

  /** Adds the columns of the entry at `at`. It runs for each byte of each row. */
  add(bytes: Buffer, at: number): void {
    const sums = this.#sums;
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

  /** Of each table that has rows: its place, then four bytes a column. */
  written(): Buffer {
    return Buffer.concat(
      SOURCE_NAMES.flatMap((name, place) => {
        const own = this.#sums.subarray(place * WIDTH, place * WIDTH + 1 + columnsOf(name).length);
        if (own.every((sum) => sum === 0)) return [];
        const bytes = Buffer.alloc(1 + own.length * 4, place);
        for (const [ordinal, sum] of own.entries()) bytes.writeUInt32BE(sum, 1 + ordinal * 4);
        return [bytes];
      }),
    );
  }
}

/** The rows in the order of their hashes. Those are as if drawn at random: by their first bits each bucket gets about one. */
function orderOf(hashes: Buffer): Uint32Array {
  const rows = hashes.length / HASH_BYTES;
  const bits = Math.min(16, Math.ceil(Math.log2(rows + 1)));
  const bucketOf = (row: number): number => hashes.readUInt16BE(row * HASH_BYTES) >>> (16 - bits);
  const starts = new Uint32Array(2 ** bits + 1);
  for (let row = 0; row < rows; row += 1) starts[bucketOf(row) + 1] = (starts[bucketOf(row) + 1] ?? 0) + 1;
  for (let bucket = 1; bucket < starts.length; bucket += 1) {
    starts[bucket] = (starts[bucket] ?? 0) + (starts[bucket - 1] ?? 0);
  }
  const order = new Uint32Array(rows);
  const next = starts.slice();
  for (let row = 0; row < rows; row += 1) {
    const bucket = bucketOf(row);
    const place = next[bucket] ?? 0;
    order[place] = row;
    next[bucket] = place + 1;
  }
  for (let bucket = 0; bucket + 1 < starts.length; bucket += 1) {
    const own = order.subarray(starts[bucket], starts[bucket + 1]);
    if (own.length > 1) own.sort((one, other) => compareAt(hashes, one, other));
  }
  return order;
}

function compareAt(hashes: Buffer, one: number, other: number): number {
  const [from, to] = [one * HASH_BYTES, other * HASH_BYTES];
  return hashes.compare(hashes, to, to + HASH_BYTES, from, from + HASH_BYTES);
}

/** The columns of a table whose sums differ; `isMasked`: of those that no auditor is withheld. */
export function changedColumns(source: SourceName, sealed: Buffer, found: Buffer, isMasked: boolean): string[] {
  const [before, after] = [sumsOf(source, sealed), sumsOf(source, found)];
  const withheld = isMasked ? withheldOf(source) : [];
  return columnsOf(source).filter(
    (name, index) => before?.[index + 1] !== after?.[index + 1] && !withheld.includes(name),
  );
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
