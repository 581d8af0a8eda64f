/**
 * PostgreSQL's binary form of a record (`record_send`), which is what seals hash: its columns as values, and values as the same bytes
 * again. Types go by their OID, which never changes. Nothing is lost on the way; instants are microseconds since 1970.
 */

export type Row = Readonly<Record<string, unknown>>;

interface Type {
  readonly read: (raw: Buffer) => unknown;
  readonly write: (to: Room, value: never) => void;
}

/** PostgreSQL counts from 2000; in microseconds. */
const EPOCH_US = BigInt(Date.UTC(2000, 0, 1)) * 1_000n;

/** Bytes that grow: a buffer for each column of each row kept the garbage collector busy for half of a verification. */
class Room {
  #bytes = Buffer.allocUnsafe(16_384);
  length = 0;

  /** Where `count` more bytes go. */
  #take(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.#bytes.length) {
      const wider = Buffer.allocUnsafe(2 * this.length);
      this.#bytes.copy(wider, 0, 0, at);
      this.#bytes = wider;
    }
    return at;
  }

  int(value: number, bytes: 1 | 2 | 4 = 4): void {
    const at = this.#take(bytes);
    this.#bytes.writeIntBE(value, at, bytes);
  }

  big(value: bigint): void {
    const at = this.#take(8);
    this.#bytes.writeBigInt64BE(value, at);
  }

  raw(value: Uint8Array): void {
    const at = this.#take(value.length);
    this.#bytes.set(value, at);
  }

  text(value: string): void {
    const at = this.#take(Buffer.byteLength(value));
    this.#bytes.write(value, at);
  }

  /** A value behind its length, -1 for null. */
  sized(type: Type, value: unknown): void {
    const at = this.#take(4);
    if (value !== null && value !== undefined) type.write(this, value as never);
    this.#bytes.writeInt32BE(value === null || value === undefined ? -1 : this.length - at - 4, at);
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }
}

const text: Type = { read: (raw) => raw.toString(), write: (to, value: string) => to.text(value) };
const bytes: Type = { read: (raw) => raw, write: (to, value: Uint8Array) => to.raw(value) };
const int8: Type = { read: (raw) => raw.readBigInt64BE(), write: (to, value: bigint) => to.big(value) };
const int = (size: 2 | 4): Type => ({
  read: (raw) => raw.readIntBE(0, size),
  write: (to, value: number) => to.int(value, size),
});
const uuidText: Type = { read: uuidOf, write: (to, value: string) => to.raw(Buffer.from(hexOf(value), 'hex')) };

/** An array of one dimension: whether it has nulls behind 4 bytes, its count behind 12, its elements behind 20, each behind its length. */
const arrayOf = (oid: number, type: Type): Type => ({
  read(raw) {
    const elements: unknown[] = [];
    for (let at = 20; raw.readInt32BE(0) > 0 && at < raw.length;) {
      const length = raw.readInt32BE(at);
      elements.push(length < 0 ? null : type.read(raw.subarray(at + 4, at + 4 + length)));
      at += 4 + Math.max(length, 0);
    }
    return elements;
  },
  write(to, values: readonly unknown[]) {
    for (const head of [Math.min(values.length, 1), Number(values.includes(null)), oid]) to.int(head);
    if (values.length > 0) for (const head of [values.length, 1]) to.int(head);
    for (const value of values) to.sized(type, value);
  },
});

const TYPES: Readonly<Record<number, Type>> = {
  16: { read: (raw) => raw[0] === 1, write: (to, value: boolean) => to.int(Number(value), 1) },
  17: bytes,
  20: int8,
  21: int(2),
  23: int(4),
  25: text,
  1001: arrayOf(17, bytes),
  1009: arrayOf(25, text),
  1184: {
    read: (raw) => raw.readBigInt64BE() + EPOCH_US,
    write: (to, value: bigint) => to.big(value - EPOCH_US),
  },
  2950: bytes,
  // As text, because pandas reads no list of UUIDs.
  2951: arrayOf(2950, uuidText),
  // A snapshot, `xmin:xmax:xip,xip`: how many transactions were open, the bounds, and each open one.
  5038: {
    read(raw) {
      const [least, most, ...open] = Array.from({ length: (raw.length - 4) / 8 }, (_, index) =>
        raw.readBigInt64BE(4 + index * 8),
      );
      return `${least}:${most}:${open.join(',')}`;
    },
    write(to, value: string) {
      const numbers = value.split(/[:,]/).filter((part) => part !== '');
      to.int(numbers.length - 2);
      for (const number of numbers) to.big(BigInt(number));
    },
  },
  5069: int8,
};

function typeOf(oid: number): Type {
  const type = TYPES[oid];
  if (type === undefined) throw new RangeError(`no record has a column of PostgreSQL's type ${oid}`);
  return type;
}

/** An id in hexadecimal, of its text or its bytes. */
export function hexOf(id: unknown): string {
  return typeof id === 'string' ? id.replaceAll('-', '') : Buffer.from(id as Uint8Array).toString('hex');
}

/** An id as text, of its bytes or its hexadecimal. */
export function uuidOf(id: unknown): string {
  return hexOf(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Where each column of the record at `at` begins and ends, null as its own end before its start; and where the record ends. */
export function walk(
  record: Buffer,
  at: number,
  onColumn: (ordinal: number, from: number, end: number) => void,
): number {
  const count = record.readInt32BE(at);
  let next = at + 4;
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    const length = record.readInt32BE(next + 4);
    onColumn(ordinal, next + 8, next + 8 + length);
    next += 8 + Math.max(length, 0);
  }
  return next;
}

/** The type and the value of a column that {@link walk} found. Throws RangeError if it is none. */
export function readColumn(
  record: Buffer,
  from: number,
  end: number,
): { readonly oid: number; readonly value: unknown } {
  const oid = record.readInt32BE(from - 8);
  const type = typeOf(oid);
  if (end > record.length) throw new RangeError('the record ends within a column');
  return { oid, value: end < from ? null : type.read(record.subarray(from, end)) };
}

const room = new Room();

/** A record of `table`'s name and these columns, after a byte `frame` if one is given. Its bytes are valid until the next call. */
export function writeRecord(
  table: string,
  oids: readonly number[],
  values: readonly unknown[],
  frame: number | null = null,
): Buffer {
  room.length = 0;
  if (frame !== null) room.int(frame, 1);
  for (const head of [1 + values.length, 25]) room.int(head);
  room.sized(text, table);
  for (const [index, value] of values.entries()) {
    const oid = oids[index] ?? 0;
    room.int(oid);
    room.sized(typeOf(oid), value);
  }
  return room.bytes;
}

/** A value in JSON: PostgreSQL reads it, numbers of 64 bits are texts, and instants go to the millisecond. */
export function jsonOf(oid: number, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (oid === 17) return `\\x${hexOf(value)}`;
  if (oid === 1184) return new Date(Number((value as bigint) / 1_000n)).toISOString();
  if (oid === 2950) return uuidOf(value);
  return typeof value === 'bigint' ? String(value) : value;
}
