/**
 * A file of a month, open for its readers.
 * Invariant: it is read as its writer makes one (table-file.ts), or not at all. Parquet has many ways to say what the bytes of a column
 * mean: a file that is hashed by its bytes could otherwise have other values for its readers.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../db/binary-record.ts';
import {
  type AsyncBuffer,
  type ColumnMetaData,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  type RowGroup,
  type SchemaElement,
} from 'hyparquet';
import { type Cells, cellsOf, decompressed, MOST_BYTES } from '../hashing/cells.ts';
import { schemaOf } from './schema.ts';
import { columnsOfTable, ROW_GROUP, schemaOfTable, TABLE_NAMES, type TableName, TYPES_KEY } from '../table-file.ts';

/** hyparquet's own takes a byte-order mark away, and replaces what is no UTF-8. */
const texts = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
const READING = {
  compressors: { ZSTD: decompressed },
  utf8: false,
  parsers: {
    stringFromBytes: (bytes: Uint8Array) => texts.decode(bytes),
    // As they are, to the microsecond.
    timestampFromMicroseconds: (at: bigint) => at,
    uuidFromBytes: (bytes: Uint8Array) => bytes,
  },
};

export interface Group {
  readonly start: number;
  readonly end: number;
  readonly columns: RowGroup['columns'];
}

class OpenFile {
  readonly table: TableName;
  readonly oids: readonly number[];
  readonly groups: readonly Group[];
  readonly #file: AsyncBuffer;
  readonly #metadata: FileMetaData;

  constructor(file: AsyncBuffer, metadata: FileMetaData) {
    [this.#file, this.#metadata] = [file, metadata];
    const types = metadata.key_value_metadata?.find(({ key }) => key === TYPES_KEY)?.value ?? '[]';
    [this.table, ...this.oids] = JSON.parse(types) as [TableName, ...number[]];
    demand(TABLE_NAMES.includes(this.table), `it is of no table: ${this.table}`);
    const schema = schemaOfTable(this.table, this.oids);
    demand(isSame(metadata.schema, schema), `its columns are not those of ${this.table}`);
    let start = 0;
    this.groups = metadata.row_groups.map(({ columns, num_rows: rows }) => {
      const group = { start, end: start + Number(rows), columns };
      this.#refuseOther(group);
      start = group.end;
      return group;
    });
    demand(metadata.num_rows === BigInt(start), `it has ${start} rows and not ${metadata.num_rows}`);
  }

  /** Throws RangeError unless the group has the schema's columns, in their order, and no more than its writer puts into one. */
  #refuseOther({ start, end, columns }: Group): void {
    demand(end > start && end - start <= ROW_GROUP, `a group has ${end - start} rows`);
    const found = columns.map(({ meta_data: data }) => ({
      codec: data?.codec,
      type: data?.type,
      path: data?.path_in_schema,
    }));
    const expected = columnsOfTable(this.table).map((name, index) => {
      const elements = schemaOf(name, this.oids[index] ?? 0);
      return { codec: 'ZSTD', type: elements.at(-1)?.type, path: elements.map((element) => element.name) };
    });
    demand(isDeepStrictEqual(found, expected), 'a group has other columns than the file');
    const bytes = columns.reduce((sum, { meta_data: data }) => sum + Number(data?.total_uncompressed_size), 0);
    demand(bytes <= MOST_BYTES, `a group has ${bytes} bytes`);
  }

  async read(part: { columns?: string[]; rowStart?: number; rowEnd?: number } = {}): Promise<Row[]> {
    return (await parquetReadObjects({ file: this.#file, metadata: this.#metadata, ...READING, ...part })) as Row[];
  }

  /** The columns of a group that has no lists in it. */
  cells(file: ArrayBuffer, { start, end, columns }: Group): ReadonlyMap<string, Cells> {
    return new Map(
      columns.map(({ meta_data: data }, index) => {
        const width = this.#metadata.schema[1 + index]?.type_length ?? 0;
        return [data?.path_in_schema[0] ?? '', cellsOf(file, data as ColumnMetaData, width, end - start)];
      }),
    );
  }

  /** The rows of a group that are chosen by these columns, by their indices in the order of the file. */
  async chosen({ start, end }: Group, columns: string[], choose: (rows: Row[]) => number[]): Promise<Row[]> {
    const taken = choose(await this.read({ columns, rowStart: start, rowEnd: end }));
    const [first, last] = [taken[0], taken.at(-1)];
    if (first === undefined || last === undefined) return [];
    const rows = await this.read({ rowStart: start + first, rowEnd: start + last + 1 });
    return taken.map((index) => rows[index - first] as Row);
  }
}

/** Throws Error if it is no file as its writer makes one. */
export async function openFile(file: AsyncBuffer): Promise<OpenFile> {
  return new OpenFile(file, await parquetMetadataAsync(file));
}

function demand(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new RangeError(otherwise);
}

/** But for what is undefined. */
function isSame(found: readonly SchemaElement[], expected: readonly SchemaElement[]): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(found)), JSON.parse(JSON.stringify(expected)));
}
