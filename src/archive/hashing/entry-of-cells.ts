/** A row's sealed entry, made of the bytes of its columns in a file: those are little-endian, and instants count from 1970. */
import { FRAMES, type SourceName } from '../../db/sealed-rows.ts';
import type { Cells } from './cells.ts';
import { widened } from './ids.ts';

/** Microseconds from 1970 to 2000, in halves of 32 bits. */
const EPOCH_US = BigInt(Date.UTC(2000, 0, 1)) * 1_000n;
const [EPOCH_HIGH, EPOCH_LOW] = [Number(EPOCH_US >> 32n), Number(EPOCH_US & 0xffffffffn)];

let room: Buffer = Buffer.allocUnsafeSlow(65_536);

/** Behind its frame; its bytes are valid until the next one is made. */
export function entriesOf(
  table: SourceName,
  oids: readonly number[],
  columns: readonly Cells[],
): (row: number) => Buffer {
  const head = Buffer.alloc(13 + table.length);
  head[0] = FRAMES.whole;
  for (const [index, value] of [1 + columns.length, 25, table.length].entries())
    head.writeInt32BE(value, 1 + 4 * index);
  head.write(table, 13);
  return (row) => {
    head.copy(room);
    let at = head.length;
    for (let index = 0; index < columns.length; index += 1) {
      const { bytes, starts, lengths } = columns[index] as Cells;
      const [oid, start, length] = [oids[index] as number, starts[row] as number, lengths[row] as number];
      if (at + 4 * length + 64 > room.length) room = widened(room, at + 4 * length + 64);
      putInt(at, oid);
      const end = length < 0 ? at + 8 : put(oid, at + 8, bytes, start, length);
      putInt(at + 4, length < 0 ? -1 : end - at - 8);
      at = end;
    }
    return room.subarray(0, at);
  };
}

/** Its last 32 bits. */
function putInt(at: number, value: number): void {
  room[at] = value >>> 24;
  room[at + 1] = value >>> 16;
  room[at + 2] = value >>> 8;
  room[at + 3] = value;
}

/** Returns where the value ends. */
function put(oid: number, at: number, bytes: Buffer, start: number, length: number): number {
  switch (oid) {
    case 20:
    case 23:
    case 5069:
      for (let index = 0; index < length; index += 1) room[at + index] = bytes[start + length - 1 - index] as number;
      return at + length;
    case 21: {
      const value = bytes.readInt32LE(start);
      // Another number must not become the same entry.
      if (value !== (value << 16) >> 16) throw new RangeError(`${value} is no number of two bytes`);
      room[at] = value >> 8;
      room[at + 1] = value;
      return at + 2;
    }
    case 1184: {
      const low = bytes.readUInt32LE(start) - EPOCH_LOW;
      const high = bytes.readInt32LE(start + 4) - EPOCH_HIGH - (low < 0 ? 1 : 0);
      if (high !== (high | 0)) throw new RangeError('an instant is before all that PostgreSQL has');
      putInt(at, high);
      putInt(at + 4, low);
      return at + 8;
    }
    case 5038:
      return putSnapshot(at, bytes, start, start + length);
    default:
      if (length > 48) bytes.copy(room, at, start, start + length);
      else for (let index = 0; index < length; index += 1) room[at + index] = bytes[start + index] as number;
      return at + length;
  }
}

/** `xmin:xmax:xip,xip` as a count of the last ones, and each number; no other text becomes the same. */
function putSnapshot(at: number, bytes: Buffer, start: number, end: number): number {
  let [next, number, digits, colons] = [at + 4, 0, 0, 0];
  for (let index = start; index <= end; index += 1) {
    const byte = index < end ? (bytes[index] as number) : END;
    if (byte >= ZERO && byte <= ZERO + 9) {
      number = number * 10 + (byte - ZERO);
      digits += 1;
      continue;
    }
    const isListEmpty = byte === END && digits === 0 && bytes[index - 1] === COLON;
    const isNumber = digits > 0 && (digits === 1 || number >= 10 ** (digits - 1)) && Number.isSafeInteger(number);
    const isHere = colons < 2 ? byte === COLON : byte === COMMA || byte === END;
    if (!isHere || !(isNumber || (isListEmpty && colons === 2)))
      throw new RangeError(`${bytes.toString('latin1', start, end)} is no snapshot`);
    if (isListEmpty) break;
    putInt(next, Math.floor(number / 2 ** 32));
    putInt(next + 4, number);
    if (byte === COLON) colons += 1;
    [next, number, digits] = [next + 8, 0, 0];
  }
  putInt(at, (next - at - 4) / 8 - 2);
  return next;
}

const [ZERO, COLON, COMMA, END] = [48, 58, 44, -1];
