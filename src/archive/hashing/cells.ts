/**
 * A column of a file as places of its values' bytes: an object for each value cost more than all hashes. hyparquet reads the headers
 * and the runs. Of Parquet it has what hyparquet-writer makes of a column that is no list: pages of version 2, plain or by a dictionary.
 */
import { zstdDecompressSync } from 'node:zlib';
import type { ColumnMetaData } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';

export const decompressed = (input: Uint8Array, length: number) =>
  zstdDecompressSync(input, { maxOutputLength: Math.max(length, 1) });

export interface Cells {
  readonly bytes: Buffer;
  readonly starts: Int32Array;
  /** -1: null. */
  readonly lengths: Int32Array;
}

type Places = Omit<Cells, 'bytes'>;

const WIDTHS: Readonly<Record<string, number>> = { INT32: 4, INT64: 8 };

/** `width`: of values of a fixed length. */
export function cellsOf(file: ArrayBuffer, column: ColumnMetaData, width: number, rows: number): Cells {
  const { type } = column;
  const first = Number(column.dictionary_page_offset ?? column.data_page_offset);
  const reader = { view: new DataView(file, first, Number(column.total_compressed_size)), offset: 0 };
  const isFlag = type === 'BOOLEAN';
  // A flag is one of two bytes.
  const bytes = isFlag ? Buffer.of(0, 1) : Buffer.allocUnsafeSlow(Number(column.total_uncompressed_size));
  const [starts, lengths] = [new Int32Array(rows), new Int32Array(rows).fill(-1)];
  let dictionary: Places = { starts: Int32Array.of(0, 1), lengths: Int32Array.of(1, 1) };
  for (let [row, used] = [0, 0]; row < rows;) {
    const header = parquetHeader(reader);
    const from = first + reader.offset;
    reader.offset += header.compressed_page_size;
    const page = header.data_page_header_v2;
    const levels = page?.definition_levels_byte_length ?? 0;
    const input = new Uint8Array(file, from + levels, header.compressed_page_size - levels);
    const body = decompressed(input, header.uncompressed_page_size - levels);
    const at = used;
    if (!isFlag) used += body.copy(bytes, at);
    if (page === undefined) {
      dictionary = placesOf(bytes, at, header.dictionary_page_header?.num_values ?? 0, WIDTHS[type] ?? width);
      continue;
    }
    const isThere = new Uint8Array(page.num_values);
    readRleBitPackedHybrid({ view: new DataView(file, from, levels), offset: 0 }, 1, isThere, levels);
    const count = page.num_values - page.num_nulls;
    const indices = isFlag || page.encoding === 'RLE_DICTIONARY' ? indicesOf(body, page.encoding, count) : null;
    const values = indices === null ? placesOf(bytes, at, count, WIDTHS[type] ?? width) : dictionary;
    for (let [index, next] = [0, 0]; index < page.num_values; index += 1, row += 1) {
      if (isThere[index] === 0) continue;
      const place = indices === null ? next : (indices[next] as number);
      starts[row] = values.starts[place] as number;
      lengths[row] = values.lengths[place] as number;
      next += 1;
    }
  }
  return { bytes, starts, lengths };
}

/** Values behind each other; each behind its length where `width` is 0. */
function placesOf(bytes: Buffer, at: number, count: number, width: number): Places {
  const [starts, lengths] = [new Int32Array(count), new Int32Array(count).fill(width)];
  for (let [index, next] = [0, at]; index < count; index += 1) {
    if (width === 0) {
      lengths[index] = bytes.readUInt32LE(next);
      next += 4;
    }
    starts[index] = next;
    next += lengths[index] as number;
  }
  return { starts, lengths };
}

function indicesOf(body: Uint8Array, encoding: string, count: number): Int32Array {
  const indices = new Int32Array(count);
  const reader = { view: new DataView(body.buffer, body.byteOffset, body.length), offset: 0 };
  if (encoding === 'RLE') readRleBitPackedHybrid(reader, 1, indices);
  else if (encoding === 'PLAIN')
    indices.forEach((_, index) => (indices[index] = ((body[index >> 3] as number) >> (index & 7)) & 1));
  else {
    const bits = reader.view.getUint8(reader.offset++);
    if (bits > 0) readRleBitPackedHybrid(reader, bits, indices, body.length - 1);
  }
  return indices;
}
