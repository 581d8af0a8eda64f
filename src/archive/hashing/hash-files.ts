/**
 * The hashes of the rows in a part's files. Without a database, so that a thread can do it (hash-threads.ts). Events and attempts are
 * hashed out of the bytes of their columns; the few rows of other tables, which may have lists, as values.
 */
import { HASH_BYTES, hashInto, levelAbove, rootOf } from '../../audit/seals/tree/merkle.ts';
import { LeafCollector } from '../../audit/seals/leaves.ts';
import { columnsOf } from '../../db/sealed-rows.ts';
import { ArchiveFault } from '../archive-fault.ts';
import type { Cells } from './cells.ts';
import { TEXTS } from '../commitments.ts';
import { entriesOf } from './entry-of-cells.ts';
import { Ids, widened } from './ids.ts';
import type { ArchivedFile } from '../manifest.ts';
import { FileOrder } from './order.ts';
import { type CellGroup, readCells } from '../read-table.ts';
import { entryOf, type TableName } from '../table-file.ts';
import { Tried } from './tried.ts';

export interface HashedPart {
  /** Of each seal: the count of its rows, and the root of their tree. */
  readonly counts: readonly number[];
  readonly roots: Buffer;
  /** Each seal's leaves in order, one seal behind the other. */
  readonly hashes: Buffer;
  /** Of each leaf: the place of its event's stream in `streams`, or one of {@link KINDS}. */
  readonly kinds: Int32Array;
  /** Ids of 16 bytes. */
  readonly streams: Buffer;
  /** Deliveries that their attempts speak against, in hexadecimal, and in which column. */
  readonly unexpected: ReadonlyMap<string, string>;
  /** Events, in hexadecimal, whose text or an answer to which is gone with its salt. */
  readonly erased: readonly string[];
}

export const KINDS = { attempt: -1, stays: -2 } as const;
const WIDTH = HASH_BYTES + 4;
const SALT_BYTES = 16;

const isLarge = (table: TableName) => table === 'events' || table === 'attempts' || table === 'deliveries';

/** A file of a part, with the manifest's line on it. */
export interface PartFile {
  readonly file: ArchivedFile;
  readonly bytes: ArrayBuffer;
}

/**
 * Throws {@link ArchiveFault} if a file is not as its readers take it (order.ts, parquet/open-file.ts), or gives no hashes.
 * `ends`: of the part's seals (audit/seals/leaves.ts).
 */
export async function hashFiles(
  files: AsyncIterable<PartFile> | Iterable<PartFile>,
  ends: readonly number[],
  onGroup?: (group: CellGroup) => void,
): Promise<HashedPart> {
  const part = new PartHasher(ends);
  const tables = new Set<TableName>();
  for await (const { file, bytes } of files) {
    try {
      if (tables.has(file.tabela)) throw new RangeError(`the part has another file of ${file.tabela}`);
      tables.add(file.tabela);
      await hashFile(part, file, bytes, onGroup);
    } catch (error) {
      const { message } = error as Error;
      throw new ArchiveFault(`${file.nome} is not as it was archived: ${message}`, { cause: error });
    }
  }
  return part.finish();
}

async function hashFile(
  part: PartHasher,
  file: ArchivedFile,
  bytes: ArrayBuffer,
  onGroup?: (group: CellGroup) => void,
): Promise<void> {
  const order = new FileOrder();
  for await (const group of readCells(bytes, isLarge)) {
    if (group.table !== file.tabela) throw new RangeError(`it has rows of ${group.table}`);
    if (group.cells !== undefined) {
      onGroup?.(group);
      order.add(group);
      part.add(group);
    } else if (group.table !== 'deliveries') {
      order.count(group.rows.length);
      for (const row of group.rows) part.addEntry(entryOf(group.table, group.oids, row, row['commitment']));
    }
  }
  order.compareWith(file);
}

class PartHasher {
  readonly #leaves: LeafCollector;
  readonly #streams = new Ids();
  readonly #tried = new Tried();
  readonly #sent = new Sent();
  readonly #erased = new Set<string>();

  constructor(ends: readonly number[]) {
    this.#leaves = new LeafCollector(ends, null, WIDTH);
  }

  addEntry(entry: Buffer, kind: number = KINDS.stays): void {
    this.#leaves.add(entry).tag(kind);
  }

  add(group: CellGroup): void {
    const { table, oids, rows, cells } = group;
    if (table === 'attempts') this.#tried.hear(group);
    if (table === 'deliveries') return this.#tried.judge(group);
    const [salts, texts] = ['salt', TEXTS[table] ?? ''].map((name) => cells.get(name)) as [Cells, Cells];
    const ids = cells.get(table === 'events' ? 'id' : 'event_id') as Cells;
    const stream = cells.get('stream');
    const commitments = withRoom(cells.get('commitment') as Cells, rows);
    const digests = withRoom(cells.get('body_digest') ?? ids, rows);
    const made = new Map([...cells, ['commitment', commitments.cells], ['body_digest', digests.cells]]);
    const entry = entriesOf(
      table,
      oids,
      columnsOf(table).map((name) => made.get(name) as Cells),
    );
    for (let row = 0; row < rows; row += 1) {
      const [salt, text] = [salts.lengths[row] as number, texts.lengths[row] as number];
      // Of another length, bytes could move between salt and text under the same hash.
      if (salt >= 0 ? salt !== SALT_BYTES : text >= 0) throw new RangeError('a text has no salt of 16 bytes');
      if (salt >= 0 && text < 0 && (commitments.cells.lengths[row] as number) >= 0)
        throw new RangeError('a text is gone, and its salt is not');
      if (salt < 0) this.#erased.add(idAt(ids, row));
      if (text >= 0) hashInto(commitments.cells.bytes, commitments.take(row, HASH_BYTES), joined(salts, texts, row));
      if (stream === undefined) {
        if (digests.cells.lengths[row] === 0) this.#sent.fill(digests, ids, row);
        this.addEntry(entry(row), KINDS.attempt);
      } else {
        this.#sent.add(ids, commitments.cells, row);
        this.addEntry(entry(row), this.#streams.add(stream.bytes, stream.starts[row] as number));
      }
    }
  }

  async finish(): Promise<HashedPart> {
    const found = await this.#leaves.finish();
    const rows = found.reduce((sum, seal) => sum + seal.rows, 0);
    const [hashes, roots] = [rows, found.length].map((count) => Buffer.alloc(count * HASH_BYTES)) as [Buffer, Buffer];
    const kinds = new Int32Array(rows);
    let row = 0;
    for (const [index, seal] of found.entries()) {
      const first = row;
      for (let at = 0; at < seal.hashes.length; at += WIDTH, row += 1) {
        seal.hashes.copy(hashes, row * HASH_BYTES, at, at + HASH_BYTES);
        kinds[row] = seal.hashes.readInt32LE(at + HASH_BYTES);
      }
      const own = hashes.subarray(first * HASH_BYTES, row * HASH_BYTES);
      if (row > first) rootOf(levelAbove(own)).copy(roots, index * HASH_BYTES);
    }
    const streams = this.#streams.bytes.subarray(0, this.#streams.count * 16);
    return {
      counts: found.map((seal) => seal.rows),
      roots,
      hashes,
      kinds,
      streams,
      unexpected: this.#tried.unexpected,
      erased: [...this.#erased],
    };
  }
}

interface Roomy {
  readonly cells: Cells;
  /** Has the row's cell begin at the returned place, in room of its own; -1: it is null. */
  readonly take: (row: number, length: number) => number;
}

/** The same cells with room behind their bytes, a hash for each row. */
function withRoom({ bytes, starts, lengths }: Cells, rows: number): Roomy {
  const wider = Buffer.allocUnsafeSlow(bytes.length + rows * HASH_BYTES);
  bytes.copy(wider);
  const cells = { bytes: wider, starts: starts.slice(), lengths: lengths.slice() };
  return {
    cells,
    take(row, length) {
      cells.lengths[row] = length;
      return (cells.starts[row] = bytes.length + row * HASH_BYTES);
    },
  };
}

/** The hashes of what was sent for a part's events; their attempts leave them out. */
class Sent {
  readonly #events = new Ids();
  readonly #lengths: number[] = [];
  #hashes: Buffer = Buffer.allocUnsafeSlow(1_024 * HASH_BYTES);

  add(ids: Cells, { bytes, starts, lengths }: Cells, row: number): void {
    const place = this.#events.add(ids.bytes, ids.starts[row] as number);
    if ((place + 1) * HASH_BYTES > this.#hashes.length) this.#hashes = widened(this.#hashes);
    const [start, length] = [starts[row] as number, lengths[row] as number];
    if (length === HASH_BYTES) bytes.copy(this.#hashes, place * HASH_BYTES, start, start + length);
    this.#lengths[place] = length;
  }

  /** One whose event is not there has none, and its leaf is another one then. */
  fill({ cells, take }: Roomy, ids: Cells, row: number): void {
    const place = ids.lengths[row] === 16 ? this.#events.find(ids.bytes, ids.starts[row] as number) : -1;
    const at = take(row, this.#lengths[place] === HASH_BYTES ? HASH_BYTES : -1);
    if (place >= 0) this.#hashes.copy(cells.bytes, at, place * HASH_BYTES, (place + 1) * HASH_BYTES);
  }
}

/** Throws RangeError if there is none. */
function idAt({ bytes, starts, lengths }: Cells, row: number): string {
  if (lengths[row] !== 16) throw new RangeError('an attempt whose answer is gone names no event');
  return bytes.toString('hex', starts[row], (starts[row] as number) + 16);
}

let room: Buffer = Buffer.allocUnsafeSlow(65_536);

/** Salt and text; valid until the next call. */
function joined(salts: Cells, texts: Cells, row: number): Buffer {
  const [salt, text] = [salts.lengths[row] as number, texts.lengths[row] as number];
  if (salt + text > room.length) room = widened(room, salt + text);
  const [saltAt, textAt] = [salts.starts[row] as number, texts.starts[row] as number];
  salts.bytes.copy(room, 0, saltAt, saltAt + salt);
  texts.bytes.copy(room, salt, textAt, textAt + text);
  return room.subarray(0, salt + text);
}
