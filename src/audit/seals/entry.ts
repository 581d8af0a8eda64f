/** An entry's bytes as its columns (rows.ts), without a database. */
import { z } from 'zod';
import { columnsOf, FRAMES, SOURCE_NAMES, type SourceName } from '../../db/sealed-rows.ts';
import { HASH_BYTES, sha256 } from './tree/merkle.ts';

type Scalar = string | number | boolean | null;
type Value = Scalar | Scalar[];

/** Types by their OID in PostgreSQL's catalog, which never change. */
const TYPES: Readonly<Record<number, (bytes: Buffer) => Value>> = {
  16: (bytes) => bytes[0] === 1,
  17: (bytes) => bytes.toString('hex'),
  20: (bytes) => Number(bytes.readBigInt64BE()),
  21: (bytes) => bytes.readInt16BE(),
  23: (bytes) => bytes.readInt32BE(),
  25: (bytes) => bytes.toString(),
  1001: arrayOf,
  1009: arrayOf,
  1184: (bytes) => new Date(Number(bytes.readBigInt64BE() / 1_000n) + Date.UTC(2000, 0, 1)).toISOString(),
  2950: uuidOf,
  2951: arrayOf,
  5038: snapshotOf,
  5069: (bytes) => Number(bytes.readBigUInt64BE()),
};

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** One dimension: its count behind 12 bytes, its elements behind 20, each behind its length. */
function arrayOf(bytes: Buffer): Scalar[] {
  if (bytes.readInt32BE(0) === 0) return [];
  const read = TYPES[bytes.readInt32BE(8)] ?? uuidOf;
  const elements: Scalar[] = [];
  for (let at = 20; at < bytes.length;) {
    const length = bytes.readInt32BE(at);
    elements.push(length < 0 ? null : (read(bytes.subarray(at + 4, at + 4 + length)) as Scalar));
    at += 4 + Math.max(length, 0);
  }
  return elements;
}

/** As PostgreSQL writes it: `xmin:xmax:xip,xip`. */
function snapshotOf(bytes: Buffer): string {
  const [lowest = '', highest = '', ...open] = Array.from({ length: (bytes.length - 4) / 8 }, (_, index) =>
    String(bytes.readBigInt64BE(4 + index * 8)),
  );
  return `${lowest}:${highest}:${open.join(',')}`;
}

/** Where each column of the entry at `at` begins and ends, null as its own end before its start; and where the entry ends. */
export function walk(
  bytes: Buffer,
  at: number,
  onColumn: (ordinal: number, from: number, end: number) => void,
): number {
  const count = bytes.readInt32BE(at);
  let next = at + 4;
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    const length = bytes.readInt32BE(next + 4);
    onColumn(ordinal, next + 8, next + 8 + length);
    next += 8 + Math.max(length, 0);
  }
  return next;
}

export interface Entry {
  readonly source: SourceName;
  readonly fields: Record<string, Value>;
}

const sourceName = z.enum(SOURCE_NAMES as [SourceName, ...SourceName[]]);

export function readEntry(bytes: Buffer): Entry | null {
  try {
    const values: Value[] = [];
    const end = walk(bytes, 0, (_, from, until) => {
      const read = TYPES[bytes.readInt32BE(from - 8)];
      if (read === undefined || until > bytes.length) throw new RangeError('no such type');
      values.push(until < from ? null : read(bytes.subarray(from, until)));
    });
    const source = sourceName.parse(values[0]);
    const names = columnsOf(source);
    if (end !== bytes.length || values.length !== names.length + 1) return null;
    return { source, fields: Object.fromEntries(names.map((name, index) => [name, values[index + 1] ?? null])) };
  } catch (error) {
    if (error instanceof RangeError || error instanceof z.ZodError) return null;
    throw error;
  }
}

/** An entry behind its frame (FRAMES): its leaf, and its columns, of which some are masked where `bytes` is null. */
export function readFramed(framed: Buffer): { leaf: Buffer; bytes: Buffer | null; entry: Entry } | null {
  const isWithheld = framed[0] === FRAMES.withheld;
  const bytes = framed.subarray(isWithheld ? 1 + HASH_BYTES : 1);
  const entry = readEntry(bytes);
  const leaf = isWithheld ? framed.subarray(1, 1 + HASH_BYTES) : sha256(framed);
  return entry === null ? null : { leaf, bytes: isWithheld ? null : bytes, entry };
}
