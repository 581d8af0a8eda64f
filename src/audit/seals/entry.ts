/** An entry's bytes as its columns (rows.ts), without a database. */
import { z } from 'zod';
import { hexOf, jsonOf, readColumn, walk } from '../../db/binary-record.ts';
import { columnsOf, FRAMES, SOURCE_NAMES, type SourceName } from '../../db/sealed-rows.ts';
import { HASH_BYTES, sha256 } from './tree/merkle.ts';

type Scalar = string | number | boolean | null;
type Value = Scalar | Scalar[];

/** A column's value in the form of a proof. */
function toValue(oid: number, value: unknown): Value {
  if (Array.isArray(value)) return value.map((element) => toValue(oid === 1001 ? 17 : 25, element) as Scalar);
  if (oid === 17 && value !== null) return hexOf(value);
  // A transaction has no sign.
  if (oid === 5069 && value !== null) return Number(BigInt.asUintN(64, value as bigint));
  return oid !== 1184 && typeof value === 'bigint' ? Number(value) : (jsonOf(oid, value) as Value);
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
      const { oid, value } = readColumn(bytes, from, until);
      values.push(toValue(oid, value));
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

/** An entry behind its frame (FRAMES): its leaf, and its columns; some are masked if `bytes` is null. */
export function readFramed(framed: Buffer): { leaf: Buffer; bytes: Buffer | null; entry: Entry } | null {
  const isWithheld = framed[0] === FRAMES.withheld;
  const bytes = framed.subarray(isWithheld ? 1 + HASH_BYTES : 1);
  const entry = readEntry(bytes);
  const leaf = isWithheld ? framed.subarray(1, 1 + HASH_BYTES) : sha256(framed);
  return entry === null ? null : { leaf, bytes: isWithheld ? null : bytes, entry };
}
