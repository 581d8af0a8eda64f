/**
 * One Parquet file: rows of one table, in columns of the table's own names and types, compressed by Zstandard.
 *
 * A row is the output of PostgreSQL's `record_send`, as a sealed entry is (audit/seals), so the file gives back each byte that was
 * hashed. Two texts stand in an entry as hashes and here in full: an event's `body` and an attempt's `answer`, each with its salt.
 * Only where they were erased, `commitment` has the hash. An attempt's `body_digest` is empty where it is the same hash of its
 * event's body and the event lies in the same part, which is nearly always: 32 random bytes of 130 a delivery. `deliveries` are not
 * sealed.
 */
import { constants, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { BODY, columnOf, columnsOf, SOURCE_NAMES, type SourceName } from '../db/sealed-rows.ts';
import { walk } from '../audit/seals/entry.ts';
import { jsonOf, readCell, type Row, schemaOf, writeCell } from './cells.ts';
import { commitmentOf, commitmentsOf, digestsToKeep } from './commitments.ts';

export type TableName = SourceName | 'deliveries';
export const TABLE_NAMES: readonly TableName[] = [...SOURCE_NAMES, 'deliveries'];

/** The columns of a file beside those of the entry: an expression over `t` for each. */
const MORE: Readonly<Partial<Record<TableName, Readonly<Record<string, string>>>>> = {
  events: {
    salt: 't.salt',
    body: `convert_from(${BODY}, 'UTF8')`,
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

export type TableFile = ReturnType<typeof fileOf>;

/** Rows of one table while a file is filled. */
interface Filling {
  readonly oids: number[];
  readonly columns: unknown[][];
}

/** Gathers records, and makes a file of those of each table. */
export class TableFiles {
  readonly #tables = new Map<TableName, Filling>();

  /** Adds records, one behind the other. */
  readonly add = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) {
      let filling: Filling | undefined;
      at = walk(bytes, at, (ordinal, from, end) => {
        if (ordinal === 0) filling = this.#of(bytes.toString('latin1', from, end) as TableName);
        else if (filling !== undefined) {
          filling.oids[ordinal - 1] = bytes.readInt32BE(from - 8);
          filling.columns[ordinal - 1]?.push(
            end < from ? null : readCell(bytes.readInt32BE(from - 8), bytes.subarray(from, end)),
          );
        }
      });
    }
  };

  #of(table: TableName): Filling {
    let filling = this.#tables.get(table);
    if (filling === undefined) {
      filling = { oids: [], columns: columnsOfTable(table).map(() => []) };
      this.#tables.set(table, filling);
    }
    return filling;
  }

  /** The file of each table that has rows. */
  files(): TableFile[] {
    this.#shortenDigests();
    return TABLE_NAMES.flatMap((table) => {
      const filling = this.#tables.get(table);
      return filling === undefined ? [] : [{ table, ...written(table, filling) }];
    });
  }

  #shortenDigests(): void {
    const [attempts, events] = [this.#tables.get('attempts'), this.#tables.get('events')];
    if (attempts === undefined || events === undefined) return;
    const digests = digestsToKeep(rowsOf('attempts', attempts), commitmentsOf(rowsOf('events', events)));
    attempts.columns[columnsOfTable('attempts').indexOf('body_digest')] = digests;
  }
}

function rowsOf(table: TableName, { columns }: Filling): Row[] {
  const names = columnsOfTable(table);
  return Array.from(columns[0] ?? [], (_, row) =>
    Object.fromEntries(names.map((name, index) => [name, columns[index]?.[row]])),
  );
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
const ROW_GROUP = 16_384;
const LEVEL = 9;

function written(table: TableName, { oids, columns }: Filling) {
  const names = columnsOfTable(table);
  const named = (name: string | undefined) => columns[names.indexOf(name ?? '')];
  const places = (ORDER[table] ?? []).map((name) => named(name) ?? []);
  const order = Array.from(columns[0] ?? [], (_, row) => row).toSorted((one, other) => {
    const differing = places.find((column) => compare(column[one], column[other]) !== 0);
    return differing === undefined ? 0 : compare(differing[one], differing[other]);
  });
  const bytes = parquetWriteBuffer({
    codec: 'ZSTD',
    compressors: {
      ZSTD: (input) => zstdCompressSync(input, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }),
    },
    columnData: names.map((name, index) => ({ name, data: order.map((row) => columns[index]?.[row]) })),
    schema: [
      { name: 'root', num_children: names.length },
      ...names.flatMap((name, index) => schemaOf(name, oids[index] ?? 0)),
    ],
    rowGroupSize: ROW_GROUP,
    kvMetadata: [{ key: TYPES_KEY, value: JSON.stringify([table, ...oids]) }],
    createdBy: 'carteiro',
  });
  const ids = (named(KEYS[table]) ?? []).map((id) => Buffer.from(id as Uint8Array).toString('hex')).toSorted();
  const timeAt = (row: number | undefined) =>
    table === 'attempts' && row !== undefined ? (jsonOf(1184, named('recorded_at')?.[row]) as string) : null;
  return {
    rows: order.length,
    /** The lowest and the highest key in it, in hexadecimal; empty for a table without. */
    ids: { de: ids[0] ?? '', ate: ids.at(-1) ?? '' },
    /** When the first and the last attempt in it were recorded; null for another table. */
    times: { de: timeAt(order[0]), ate: timeAt(order.at(-1)) },
    bytes: Buffer.from(bytes),
  };
}

/** Of two values of one column, as PostgreSQL orders them. */
function compare(one: unknown, other: unknown): number {
  if (one instanceof Uint8Array) return Buffer.compare(one, other as Uint8Array);
  return one === other ? 0 : (one as number) < (other as number) ? -1 : 1;
}

/** A file of the rows that were read of another one. */
export function fileOf(table: TableName, oids: readonly number[], rows: readonly Row[]) {
  const columns = columnsOfTable(table).map((name) => rows.map((row) => row[name]));
  return { table, ...written(table, { oids: [...oids], columns }) };
}

/** Where the file keeps the table's name and its columns' types in PostgreSQL. */
export const TYPES_KEY = 'carteiro';

/** The row without its text, as a file has it of what was erased. */
export function withoutText(table: TableName, row: Row): Row {
  const nothing = Object.fromEntries(Object.keys(MORE[table] ?? {}).map((name) => [name, null]));
  return { ...row, ...nothing, commitment: commitmentOf(table, row) };
}

/** The sealed entry of a row of a file, made again with the hashes of its texts. */
export function entryOf(table: SourceName, oids: readonly number[], row: Row): Buffer {
  const cells = columnsOf(table).map((name, index) => {
    const value = name === 'commitment' ? commitmentOf(table, row) : row[name];
    return [oids[index] ?? 0, writeCell(oids[index] ?? 0, value)] as const;
  });
  return record([[25, Buffer.from(table)], ...cells]);
}

function record(cells: readonly (readonly [oid: number, raw: Buffer | null])[]): Buffer {
  const parts = cells.flatMap(([oid, raw]) => {
    const head = Buffer.alloc(8);
    head.writeInt32BE(oid, 0);
    head.writeInt32BE(raw === null ? -1 : raw.length, 4);
    return raw === null ? [head] : [head, raw];
  });
  const count = Buffer.alloc(4);
  count.writeInt32BE(cells.length);
  return Buffer.concat([count, ...parts]);
}
