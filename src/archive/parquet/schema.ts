/** The columns of Parquet's schema for PostgreSQL's types, by their OID (db/binary-record.ts). */
import type { SchemaElement } from 'hyparquet';

type Column = Omit<SchemaElement, 'name'>;

const STRING: Column = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };
const BYTES: Column = { type: 'BYTE_ARRAY' };
const INT64: Column = { type: 'INT64' };

const COLUMNS: Readonly<Record<number, Column>> = {
  16: { type: 'BOOLEAN' },
  17: BYTES,
  20: INT64,
  21: { type: 'INT32', converted_type: 'INT_16' },
  23: { type: 'INT32', converted_type: 'INT_32' },
  25: STRING,
  1184: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  2950: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
  5038: STRING,
  5069: INT64,
};

/** Arrays, by their element. */
const ELEMENTS: Readonly<Record<number, Column>> = { 1001: BYTES, 1009: STRING, 2951: STRING };

/** The elements of Parquet's schema for a column. */
export function schemaOf(name: string, oid: number): SchemaElement[] {
  const element = ELEMENTS[oid];
  if (element === undefined) return [{ name, repetition_type: 'OPTIONAL', ...COLUMNS[oid] }];
  return [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...element },
  ];
}
