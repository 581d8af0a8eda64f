/**
 * One Parquet file: rows of one table, in columns of the table's own names and types, compressed by Zstandard.
 * Invariant: the file gives back each byte that was hashed, because a row is PostgreSQL's `record_send`, like a sealed entry
 * (audit/seals). An event's `body` and an attempt's `answer` are hashes in an entry and stand here in full, each with its salt;
 * if erased, `commitment` has the hash. An attempt's `body_digest` is empty if its event is in the same part with the same
 * hash. `deliveries` are not sealed.
 * A row stays its record until its group is written: as column values, a part took 400 MiB more.
 */
import { hexOf, jsonOf, readColumn, type Row, walk, writeRecord } from '../db/binary-record.ts';
import { constants, zstdCompressSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { BODY, FRAMES, columnOf, columnsOf, SOURCE_NAMES, type SourceName } from '../db/sealed-rows.ts';
import { schemaOf } from './parquet/schema.ts';
import { commitmentOf, commitmentsOf, digestsToKeep } from './commitments.ts';

export type TableName = SourceName | 'deliveries';
export const TABLE_NAMES: readonly TableName[] = [...SOURCE_NAMES, 'deliveries'];

/** The columns of a file beside those of the entry: an expression over `t` for each. */
const MORE: Readonly<Partial<Record<TableName, Readonly<Record<string, string>>>>> = {
  events: {
    salt: 't.salt',
    // Of an erased event, what is left is not what was sent.
    body: `case when t.salt is not null then convert_from(${BODY}, 'UTF8') end`,
    // A test may carry another event's example payload.
    data: `case when t.type = 'webhook.teste' then t.data::text end`,
  },
  attempts: { salt: 't.salt', answer: 't.answer' },
};
const DELIVERY =
  'id event_id webhook_id partner_id status attempts failures lost_in_row created_at finished_at is_test'.split(' ');

export function columnsOfTable(table: TableName): readonly string[] {
  return table === 'deliveries' ? DELIVERY : [...columnsOf(table), ...Object.keys(MORE[table] ?? {})];
}

/** A row `t` of the table as the bytes that its file is made of. */
export function recordOf(table: TableName): string {
  const isAsItStands = (name: string) => table === 'deliveries' || name === 'commitment';
  const columns = columnsOfTable(table).map(
    (name) => MORE[table]?.[name] ?? (isAsItStands(name) ? `t.${name}` : columnOf(table as SourceName, name)),
  );
  return `record_send(row('${table}'::text, ${columns.join(', ')}))`;
}

export type TableFile = ReturnType<typeof written>;

/** Rows of one table while a file is filled: where each lies in the file's order, and its record. */
interface Filling {
  readonly oids: number[];
  /** By column of an entry, its rank in the file's order; -1: none. */
  readonly ranks: readonly number[];
  readonly rows: { readonly place: string; readonly record: Buffer }[];
}

export class TableFiles {
  readonly #tables = new Map<TableName, Filling>();
  /** Of all records so far. */
  bytes = 0;

  readonly add = (bytes: Buffer): void => {
    this.bytes += bytes.length;
    for (let at = 0; at < bytes.length;) at = keepRecord(this.#of(tableAt(bytes, at)), bytes, at);
  };

  /** Adds rows that were read of another file. */
  put(table: TableName, oids: readonly number[], rows: readonly Row[]): void {
    const names = columnsOfTable(table);
    for (const row of rows) {
      const values = names.map((name) => row[name]);
      this.add(Buffer.from(writeRecord(table, oids, values)));
    }
  }

  #of(table: TableName): Filling {
    let filling = this.#tables.get(table);
    if (filling === undefined) {
      const order = ORDER[table] ?? [];
      filling = { oids: [], ranks: columnsOfTable(table).map((name) => order.indexOf(name)), rows: [] };
      this.#tables.set(table, filling);
    }
    return filling;
  }

  files(): TableFile[] {
    const commitments = new Map<string, Buffer>();
    const shortened = (table: TableName, rows: Row[]) => {
      if (table === 'events') for (const [id, hash] of commitmentsOf(rows)) commitments.set(id, hash);
      if (table !== 'attempts') return rows;
      const digests = digestsToKeep(rows, commitments);
      return rows.map((row, index) => Object.assign(row, { body_digest: digests[index] }));
    };
    return TABLE_NAMES.flatMap((table) => {
      const filling = this.#tables.get(table);
      return filling === undefined ? [] : [written(table, filling, (rows) => shortened(table, rows))];
    });
  }
}

/** The first column is the table's name. */
function tableAt(bytes: Buffer, at: number): TableName {
  return bytes.toString('latin1', at + 12, at + 12 + bytes.readInt32BE(at + 8)) as TableName;
}

/** Keeps the record at `at`; returns where the next one begins. */
function keepRecord({ oids, ranks, rows }: Filling, bytes: Buffer, at: number): number {
  const place: string[] = [];
  const end = walk(bytes, at, (ordinal, from, until) => {
    if (ordinal === 0) return;
    oids[ordinal - 1] = bytes.readInt32BE(from - 8);
    const rank = ranks[ordinal - 1] ?? -1;
    if (rank >= 0) place[rank] = sortable(bytes, from, until);
  });
  rows.push({ place: place.join(''), record: bytes.subarray(at, end) });
  return end;
}

/** A column of an order as a text that compares as its values do: PostgreSQL's bytes, but a number's sign comes first. */
function sortable(bytes: Buffer, from: number, until: number): string {
  const text = bytes.toString('latin1', from, until);
  const hasSign = [23, 1184].includes(bytes.readInt32BE(from - 8));
  return hasSign ? String.fromCharCode(text.charCodeAt(0) ^ 128) + text.slice(1) : text;
}

function rowOf(names: readonly string[], record: Buffer): Row {
  const row: Record<string, unknown> = {};
  walk(record, 0, (ordinal, from, end) => {
    if (ordinal > 0) row[names[ordinal - 1] ?? ''] = readColumn(record, from, end).value;
  });
  return row;
}

/** The columns by which a reader asks for one row. */
export const KEYS: Readonly<Partial<Record<TableName, string>>> = {
  events: 'id',
  attempts: 'delivery_id',
  deliveries: 'id',
};
/** The order in which rows lie: of attempts that of the auditors' list. */
export const ORDER: Readonly<Partial<Record<TableName, readonly string[]>>> = {
  events: ['id'],
  attempts: ['recorded_at', 'delivery_id', 'number', 'late'],
  deliveries: ['id'],
};
/** A group ends with this many rows or bytes, so that reading one takes little memory, whatever its texts are. */
export const ROW_GROUP = 16_384;
const GROUP_BYTES = 16 * 1_024 * 1_024;
const LEVEL = 9;

function* groupsOf({ rows }: Filling): Generator<Buffer[]> {
  let [group, bytes]: [Buffer[], number] = [[], 0];
  for (const { record } of rows.toSorted((one, other) => compare(one.place, other.place))) {
    group.push(record);
    bytes += record.length;
    if (group.length < ROW_GROUP && bytes < GROUP_BYTES) continue;
    yield group;
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield group;
}

const compare = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);

function written(table: TableName, filling: Filling, onGroup: (rows: Row[]) => Row[] = (rows) => rows) {
  const names = columnsOfTable(table);
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    codec: 'ZSTD',
    compressors: {
      ZSTD: (input) => zstdCompressSync(input, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }),
    },
    schema: schemaOfTable(table, filling.oids),
    kvMetadata: [{ key: TYPES_KEY, value: JSON.stringify([table, ...filling.oids]) }],
    createdBy: 'carteiro',
  });
  const key = KEYS[table];
  let ids: string[] = [];
  const times: (string | null)[] = [];
  for (const records of groupsOf(filling)) {
    const rows = onGroup(records.map((record) => rowOf(names, record)));
    void parquet.write({
      columnData: names.map((name) => ({ name, data: rows.map((row) => row[name]) })),
      rowGroupSize: rows.length,
    });
    if (key !== undefined) {
      const sorted = [...ids, ...rows.map((row) => hexOf(row[key]))].toSorted();
      ids = [sorted[0] ?? '', sorted.at(-1) ?? ''];
    }
    if (table === 'attempts')
      for (const row of [rows[0], rows.at(-1)]) times.push(jsonOf(1184, row?.['recorded_at']) as string);
  }
  void parquet.finish();
  return {
    table,
    rows: filling.rows.length,
    /** The lowest and the highest key in it, in hexadecimal; empty for a table without. */
    ids: { de: ids[0] ?? '', ate: ids[1] ?? '' },
    /** When the first and the last attempt in it were recorded; null for another table. */
    times: { de: times[0] ?? null, ate: times.at(-1) ?? null },
    bytes: Buffer.from(writer.getBuffer()),
  };
}

export function schemaOfTable(table: TableName, oids: readonly number[]): SchemaElement[] {
  const names = columnsOfTable(table);
  return [
    { name: 'root', num_children: names.length },
    ...names.flatMap((name, index) => schemaOf(name, oids[index] ?? 0)),
  ];
}

/** Where the file keeps the table's name and its columns' types in PostgreSQL. */
export const TYPES_KEY = 'carteiro';

/** The row without its text, as a file has it of what was erased. */
export function withoutText(table: TableName, row: Row): Row {
  const nothing = Object.fromEntries(Object.keys(MORE[table] ?? {}).map((name) => [name, null]));
  return { ...row, ...nothing, commitment: commitmentOf(table, row) };
}

/** The sealed entry of a row of a file, behind its frame, with the hash of its text; valid until the next one is made. */
export function entryOf(table: SourceName, oids: readonly number[], row: Row, commitment: unknown): Buffer {
  const values = columnsOf(table).map((name) => (name === 'commitment' ? commitment : row[name]));
  return writeRecord(table, oids, values, FRAMES.whole);
}
