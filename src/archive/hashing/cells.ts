/**
 * A column of a file as places of its values' bytes: an object for each value cost more than all hashes. hyparquet reads the headers.
 * Of Parquet it has what hyparquet-writer makes of a column that is no list: pages of version 2, plain or by a dictionary.
 * Invariant: readers of rows, which are hyparquet, read the same values. So whatever only one of them would read is refused: another
 * encoding, a page that is not compressed, counts that differ, an index beyond the dictionary, a value beyond its page.
 */
import { zstdDecompressSync } from 'node:zlib';
import type { ColumnMetaData } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { readRuns } from './runs.ts';

/** Of a group's columns together: a group is 16 MiB of records, or a single one (table-file.ts). */
export const MOST_BYTES = 64 * 1_024 * 1_024;

export function decompressed(input: Uint8Array, length: number): Buffer {
  demand(length <= MOST_BYTES, `a page has ${length} bytes`);
  const found = zstdDecompressSync(input, { maxOutputLength: Math.max(length, 1) });
  demand(found.length === length, `a page has ${found.length} bytes and not ${length}`);
  return found;
}

export interface Cells {
  readonly bytes: Buffer;
  readonly starts: Int32Array;
  /** -1: null. */
  readonly lengths: Int32Array;
}

type Places = Omit<Cells, 'bytes'>;
type Page = NonNullable<ReturnType<typeof parquetHeader>['data_page_header_v2']>;

const WIDTHS: Readonly<Record<string, number>> = { INT32: 4, INT64: 8 };

/** `width`: of values of a fixed length. Throws RangeError if the column is not as its writer makes one. */
export function cellsOf(file: ArrayBuffer, column: ColumnMetaData, width: number, rows: number): Cells {
  const { type } = column;
  const first = Number(column.dictionary_page_offset || column.data_page_offset);
  const size = Number(column.total_compressed_size);
  const reader = { view: new DataView(file, first, size), offset: 0 };
  const isFlag = type === 'BOOLEAN';
  // A flag is one of two bytes.
  const bytes = isFlag ? Buffer.of(0, 1) : Buffer.allocUnsafeSlow(Number(column.total_uncompressed_size));
  const [starts, lengths] = [new Int32Array(rows), new Int32Array(rows).fill(-1)];
  let dictionary: Places | undefined = isFlag
    ? { starts: Int32Array.of(0, 1), lengths: Int32Array.of(1, 1) }
    : undefined;
  for (let [row, used] = [0, 0]; row < rows;) {
    const header = parquetHeader(reader);
    const from = first + reader.offset;
    reader.offset += header.compressed_page_size;
    demand(reader.offset <= size, 'a page goes beyond its column');
    const page = header.type === 'DATA_PAGE_V2' ? header.data_page_header_v2 : undefined;
    const levels = page?.definition_levels_byte_length ?? 0;
    const length = header.uncompressed_page_size - levels;
    demand(isFlag || length <= bytes.length - used, 'a page goes beyond what its column has');
    const body = decompressed(new Uint8Array(file, from + levels, header.compressed_page_size - levels), length);
    const at = used;
    if (!isFlag) used += body.copy(bytes, at);
    if (page === undefined) {
      const entries = header.type === 'DICTIONARY_PAGE' ? header.dictionary_page_header : undefined;
      demand(!isFlag && entries !== undefined, `a page is ${header.type}`);
      dictionary = placesOf(bytes, at, used, entries.num_values, WIDTHS[type] ?? width);
      continue;
    }
    const count = page.num_values - page.num_nulls;
    const isThere = levelsOf(page, Buffer.from(file, from, levels), rows - row);
    const indices = isFlag || page.encoding === 'RLE_DICTIONARY' ? indicesOf(body, page.encoding, count, isFlag) : null;
    demand(indices !== null || page.encoding === 'PLAIN', `a page's encoding is ${page.encoding}`);
    const values = indices === null ? placesOf(bytes, at, used, count, WIDTHS[type] ?? width) : dictionary;
    demand(values !== undefined, 'a page has no dictionary before it');
    const most = values.starts.length;
    for (let [index, next] = [0, 0]; index < page.num_values; index += 1, row += 1) {
      if (isThere[index] === 0) continue;
      const place = indices === null ? next : (indices[next] as number);
      demand(place < most, 'an index goes beyond its dictionary');
      starts[row] = values.starts[place] as number;
      lengths[row] = values.lengths[place] as number;
      next += 1;
    }
  }
  return { bytes, starts, lengths };
}

function demand(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new RangeError(otherwise);
}

/** Of each value of a page: 1, or 0 if it is null. */
function levelsOf(page: Page, bytes: Buffer, most: number): Uint8Array {
  const { num_values: count, num_nulls: nulls } = page;
  demand(
    Number.isInteger(count) && count > 0 && count <= most && page.num_rows === count,
    `a page has ${count} values`,
  );
  demand(
    page.repetition_levels_byte_length === 0 && page.is_compressed === true,
    'a page is a list, or not compressed',
  );
  const levels = new Uint8Array(count);
  readRuns(bytes, 1, levels);
  let there = 0;
  for (const level of levels) {
    demand(level < 2, `a value has level ${level}`);
    there += level;
  }
  demand(there === count - nulls, `a page has ${there} values and not ${count - nulls}`);
  return levels;
}

/** Values behind each other from `at` to `end`; each behind its length where `width` is 0. */
function placesOf(bytes: Buffer, at: number, end: number, count: number, width: number): Places {
  demand(
    Number.isInteger(count) && count >= 0 && count * (width || 4) <= end - at,
    `a page has no room for ${count} values`,
  );
  const [starts, lengths] = [new Int32Array(count), new Int32Array(count).fill(width)];
  let next = at;
  for (let index = 0; index < count; index += 1) {
    if (width === 0) {
      const length = bytes.readUInt32LE(next);
      next += 4;
      demand(length <= end - next, 'a value goes beyond its page');
      lengths[index] = length;
    }
    starts[index] = next;
    next += lengths[index] as number;
  }
  demand(next === end, 'a page ends elsewhere than its last value');
  return { starts, lengths };
}

function indicesOf(body: Buffer, encoding: string | undefined, count: number, isFlag: boolean): Int32Array {
  const indices = new Int32Array(count);
  if (isFlag && encoding === 'PLAIN')
    indices.forEach((_, index) => (indices[index] = (body.readUInt8(index >> 3) >> (index & 7)) & 1));
  else if (isFlag) {
    demand(encoding === 'RLE', `a page's encoding is ${encoding}`);
    readRuns(body.subarray(4), 1, indices);
  } else if (count > 0) readRuns(body.subarray(1), body.readUInt8(0), indices);
  return indices;
}
