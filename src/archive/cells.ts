/** A column's values between PostgreSQL's binary form and Parquet's, by the type's OID. Nothing is lost on the way. */
import type { SchemaElement } from 'hyparquet';

export type Row = Readonly<Record<string, unknown>>;

interface Cell {
  /** The column of this type in Parquet's schema. */
  readonly schema: Omit<SchemaElement, 'name'>;
  readonly read: (bytes: Buffer) => unknown;
  readonly write: (value: never) => Buffer;
}

/** PostgreSQL counts from 2000, Parquet from 1970; both in microseconds. */
const EPOCH_US = BigInt(Date.UTC(2000, 0, 1)) * 1_000n;

const STRING = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const INT64 = { type: 'INT64' } as const;

const integer = (bytes: 2 | 4): Cell => ({
  schema: { type: 'INT32', converted_type: bytes === 2 ? 'INT_16' : 'INT_32' },
  read: (raw) => raw.readIntBE(0, bytes),
  write(value: number) {
    const raw = Buffer.alloc(bytes);
    raw.writeIntBE(value, 0, bytes);
    return raw;
  },
});

function eight(value: bigint): Buffer {
  const raw = Buffer.alloc(8);
  raw.writeBigInt64BE(value);
  return raw;
}

const uuidText = (raw: Uint8Array) =>
  Buffer.from(raw)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const uuidBytes = (text: string) => Buffer.from(text.replaceAll('-', ''), 'hex');

const text: Cell = { schema: STRING, read: (raw) => raw.toString(), write: (value: string) => Buffer.from(value) };
const bytea: Cell = {
  schema: { type: 'BYTE_ARRAY' },
  read: (raw) => raw,
  write: (value: Uint8Array) => Buffer.from(value),
};
const big: Cell = { schema: INT64, read: (raw) => raw.readBigInt64BE(), write: eight };

const CELLS: Readonly<Record<number, Cell>> = {
  16: { schema: { type: 'BOOLEAN' }, read: (raw) => raw[0] === 1, write: (value: boolean) => Buffer.of(Number(value)) },
  17: bytea,
  20: big,
  21: integer(2),
  23: integer(4),
  25: text,
  1184: {
    schema: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    read: (raw) => raw.readBigInt64BE() + EPOCH_US,
    write: (value: bigint) => eight(value - EPOCH_US),
  },
  2950: {
    schema: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
    read: (raw) => raw,
    write: (value: Uint8Array) => Buffer.from(value),
  },
  // A snapshot: how many transactions were open, the bounds, and each open one.
  5038: {
    schema: STRING,
    read(raw) {
      const numbers = Array.from({ length: (raw.length - 4) / 8 }, (_, index) => raw.readBigInt64BE(4 + index * 8));
      return `${numbers[0]}:${numbers[1]}:${numbers.slice(2).join(',')}`;
    },
    write(value: string) {
      const numbers = value.split(/[:,]/).filter((part) => part !== '');
      return Buffer.concat([
        integer(4).write((numbers.length - 2) as never),
        ...numbers.map((part) => eight(BigInt(part))),
      ]);
    },
  },
  5069: big,
};

/** Arrays, by their element; pandas reads no list of UUIDs, so these are text there. */
const ELEMENTS: Readonly<Record<number, { readonly oid: number; readonly cell: Cell }>> = {
  1001: { oid: 17, cell: bytea },
  1009: { oid: 25, cell: text },
  2951: { oid: 2950, cell: { schema: STRING, read: uuidText, write: (value: string) => uuidBytes(value) } },
};

const ARRAY_HEAD = 12;
const DIMENSION = 8;

function readArray(raw: Buffer, { read }: Cell): unknown[] {
  const elements: unknown[] = [];
  for (let at = ARRAY_HEAD + DIMENSION; at < raw.length;) {
    const end = at + 4 + raw.readInt32BE(at);
    elements.push(read(raw.subarray(at + 4, end)));
    at = end;
  }
  return elements;
}

function writeArray(values: readonly never[], oid: number, { write }: Cell): Buffer {
  const head = Buffer.alloc(values.length === 0 ? ARRAY_HEAD : ARRAY_HEAD + DIMENSION);
  head.writeInt32BE(oid, 8);
  if (values.length === 0) return head;
  head.writeInt32BE(1, 0);
  head.writeInt32BE(values.length, ARRAY_HEAD);
  head.writeInt32BE(1, ARRAY_HEAD + 4);
  const parts = values.flatMap((value) => {
    const raw = write(value);
    return [integer(4).write(raw.length as never), raw];
  });
  return Buffer.concat([head, ...parts]);
}

function cellOf(oid: number): Cell {
  const cell = CELLS[oid];
  if (cell === undefined) throw new Error(`no column of PostgreSQL's type ${oid} can be archived`);
  return cell;
}

/** The elements of Parquet's schema for a column. */
export function schemaOf(name: string, oid: number): SchemaElement[] {
  const element = ELEMENTS[oid];
  if (element === undefined) return [{ name, repetition_type: 'OPTIONAL', ...cellOf(oid).schema }];
  return [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...element.cell.schema },
  ];
}

export function readCell(oid: number, raw: Buffer): unknown {
  const element = ELEMENTS[oid];
  return element === undefined ? cellOf(oid).read(raw) : readArray(raw, element.cell);
}

/** The bytes of a value as Parquet has it; null for none. */
export function writeCell(oid: number, value: unknown): Buffer | null {
  if (value === null || value === undefined) return null;
  const element = ELEMENTS[oid];
  return element === undefined
    ? cellOf(oid).write(value as never)
    : writeArray(value as never[], element.oid, element.cell);
}

/** A value as PostgreSQL reads it in JSON; instants to the millisecond. */
export function jsonOf(oid: number, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (oid === 17) return `\\x${Buffer.from(value as Uint8Array).toString('hex')}`;
  if (oid === 1184) return new Date(Number((value as bigint) / 1_000n)).toISOString();
  if (oid === 2950) return uuidText(value as Uint8Array);
  return typeof value === 'bigint' ? String(value) : value;
}
