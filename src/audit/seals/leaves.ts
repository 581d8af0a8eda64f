/**
 * The leaves of rows, in order, and for each column the sum of what its values hash to.
 *
 * The order is that of the leaves' bytes, so it does not depend on the order of reading, and a leaf's place follows nearly from
 * the leaf. The sums tell in which columns a changed row changed, which no leaf can. They are a hint of 4 bytes a column, are not
 * sealed, and prove nothing. They contain no text that may be erased, because no entry does.
 */
import { columnsOf, FRAMES, SOURCE_NAMES, type SourceName, withheldOf } from '../../db/sealed-rows.ts';
import { HASH_BYTES, hashInto } from './tree/merkle.ts';
import { sortHashes } from './tree/sort-hashes.ts';

export interface Leaves {
  /** Sorted, one behind the other. */
  readonly hashes: Buffer;
  readonly rows: number;
}

const WIDTH = 1 + Math.max(...SOURCE_NAMES.map((name) => columnsOf(name).length));
const NAMES = SOURCE_NAMES.map((name) => Buffer.from(name));
const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const FIRST_ROOM = 256;

/** A row as it is read: its leaf's place in `hashes`, and its entry in `bytes`. */
type OnRow = (hashes: Buffer, leafAt: number, bytes: Buffer, entryAt: number, entryEnd: number) => void;

/** Hashes entries one by one, as `readEntries` reads them, and keeps nothing of them but 32 bytes. */
export class LeafList {
  rows = 0;
  readonly #onRow: OnRow | null;
  readonly #room: number;
  #hashes: Buffer = Buffer.alloc(0);

  /** With the first leaf it makes room for `room` of them. */
  constructor(onRow: OnRow | null = null, room = FIRST_ROOM) {
    this.#onRow = onRow;
    this.#room = room * HASH_BYTES;
  }

  /** Adds the framed entry from `at` to `end` in `bytes`. */
  readonly add = (bytes: Buffer, at = 0, end = bytes.length): void => {
    const leafAt = this.rows * HASH_BYTES;
    if (leafAt === this.#hashes.length) this.#widen();
    this.rows += 1;
    const isWithheld = bytes[at] === FRAMES.withheld;
    const entryAt = at + 1 + (isWithheld ? HASH_BYTES : 0);
    if (isWithheld) bytes.copy(this.#hashes, leafAt, at + 1, entryAt);
    else hashInto(this.#hashes, leafAt, bytes.subarray(at, end));
    this.#onRow?.(this.#hashes, leafAt, bytes, entryAt, end);
  };

  /** The leaves in order. Nothing is added any more. */
  async finish(): Promise<Leaves> {
    const hashes = this.#hashes.subarray(0, this.rows * HASH_BYTES);
    await sortHashes(hashes);
    return { hashes, rows: this.rows };
  }

  #widen(): void {
    const wider = Buffer.allocUnsafeSlow(Math.max(2 * this.#hashes.length, this.#room));
    this.#hashes.copy(wider);
    this.#hashes = wider;
  }
}

/**
 * The leaves of spans of transactions that follow each other in one epoch; `ends` are their ends, and the last span takes
 * whatever is left.
 */
export class LeafCollector {
  readonly #ends: readonly number[];
  readonly #spans: readonly LeafList[];
  #current = 0;

  constructor(ends: readonly number[]) {
    this.#ends = ends;
    this.#spans = ends.map(() => new LeafList());
  }

  /** As {@link LeafList}'s. Transaction and epoch are an entry's last columns. */
  readonly add = (bytes: Buffer, at = 0, end = bytes.length): void => {
    this.#spanOf(end - 18 < at ? 0 : Number(bytes.readBigUInt64BE(end - 18))).add(bytes, at, end);
  };

  /** The leaves of each span, in order. */
  async finish(): Promise<Leaves[]> {
    return Promise.all(this.#spans.map((span) => span.finish()));
  }

  /** Rows come nearly in the order of their transactions. */
  #spanOf(tx: number): LeafList {
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
    return this.#spans[this.#current] as LeafList;
  }
}

/** The sums of the columns of all rows that are added. */
export class ColumnSums {
  readonly #sums = new Uint32Array(SOURCE_NAMES.length * WIDTH);
  /** The table of the last row: those of one table come together. */
  #place = 0;

  /** Adds the columns of the entry at `at`. It runs for each byte of each row. */
  add(bytes: Buffer, at: number): void {
    const sums = this.#sums;
    const count = bytes.readInt32BE(at);
    const isNamed = (name: Buffer) => isAt(bytes, at + 12, bytes.readInt32BE(at + 8), name);
    if (!isNamed(NAMES[this.#place] as Buffer)) this.#place = Math.max(NAMES.findIndex(isNamed), 0);
    const place = this.#place;
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

/** True where `name` is what lies there. */
function isAt(bytes: Buffer, at: number, length: number, name: Buffer): boolean {
  let same = 0;
  while (same < length && bytes[at + same] === name[same]) same += 1;
  return same === length && length === name.length;
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
