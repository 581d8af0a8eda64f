/**
 * The leaves of rows, sorted by their bytes: any order of reading gives the same tree, and a leaf's place nearly follows from it.
 */
import { FRAMES, type SourceName } from '../../db/sealed-rows.ts';
import { HASH_BYTES, hashInto } from './tree/merkle.ts';
import { sortHashes } from './tree/sort-hashes.ts';

export interface Leaves {
  /** Sorted, one behind the other. */
  readonly hashes: Buffer;
  readonly rows: number;
}

export type TableCounts = Map<SourceName, number>;

const FIRST_ROOM = 256;

/** A row as it is read: its leaf's place in `hashes`, and its entry in `bytes`. */
type OnRow = (hashes: Buffer, leafAt: number, bytes: Buffer, entryAt: number, entryEnd: number) => void;

/** Hashes entries one by one, as `readEntries` reads them, and keeps nothing of them but 32 bytes. */
export class LeafList {
  rows = 0;
  readonly #onRow: OnRow | null;
  readonly #room: number;
  readonly #width: number;
  #hashes: Buffer = Buffer.alloc(0);

  /** With the first leaf it makes room for `room` of them, each of `width` bytes. */
  constructor(onRow: OnRow | null = null, room = FIRST_ROOM, width = HASH_BYTES) {
    this.#onRow = onRow;
    this.#room = room * width;
    this.#width = width;
  }

  readonly add = (bytes: Buffer, at = 0, end = bytes.length): void => {
    const leafAt = this.rows * this.#width;
    if (leafAt === this.#hashes.length) this.#widen();
    this.rows += 1;
    const isWithheld = bytes[at] === FRAMES.withheld;
    const entryAt = at + 1 + (isWithheld ? HASH_BYTES : 0);
    if (isWithheld) bytes.copy(this.#hashes, leafAt, at + 1, entryAt);
    else hashInto(this.#hashes, leafAt, end - at === bytes.length ? bytes : bytes.subarray(at, end));
    this.#onRow?.(this.#hashes, leafAt, bytes, entryAt, end);
  };

  /** Puts a number behind the leaf that was added last. */
  tag(value: number): void {
    this.#hashes.writeInt32LE(value, (this.rows - 1) * this.#width + HASH_BYTES);
  }

  /** The leaves in order. Nothing is added any more. */
  async finish(): Promise<Leaves> {
    const hashes = this.#hashes.subarray(0, this.rows * this.#width);
    await sortHashes(hashes, this.#width);
    return { hashes, rows: this.rows };
  }

  #widen(): void {
    const wider = Buffer.allocUnsafeSlow(Math.max(2 * this.#hashes.length, this.#room));
    this.#hashes.copy(wider);
    this.#hashes = wider;
  }
}

/** The leaves of consecutive spans of one epoch; `ends` are the spans' ends, and the last span takes the rest. */
export class LeafCollector {
  readonly #ends: readonly number[];
  readonly #spans: readonly LeafList[];
  #current = 0;
  readonly #counts: TableCounts | null;

  /** `counts` gets the number of rows of each table. */
  constructor(ends: readonly number[], counts: TableCounts | null = null, width = HASH_BYTES) {
    this.#counts = counts;
    this.#ends = ends;
    this.#spans = ends.map(() => new LeafList(null, FIRST_ROOM, width));
  }

  /** As {@link LeafList}'s. Transaction and epoch are an entry's last columns. */
  readonly add = (bytes: Buffer, at = 0, end = bytes.length): LeafList => {
    const span = this.#spanOf(
      end - 18 < at ? 0 : bytes.readUInt32BE(end - 18) * 2 ** 32 + bytes.readUInt32BE(end - 14),
    );
    span.add(bytes, at, end);
    if (this.#counts === null) return span;
    const entryAt = at + 1 + (bytes[at] === FRAMES.withheld ? HASH_BYTES : 0);
    const nameAt = entryAt + 12;
    const table = bytes.toString('latin1', nameAt, nameAt + bytes.readInt32BE(entryAt + 8)) as SourceName;
    this.#counts.set(table, (this.#counts.get(table) ?? 0) + 1);
    return span;
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
