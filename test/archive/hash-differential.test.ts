/**
 * A part has the hashes of its rows as readers have them, one by one, or none: random rows, other layouts of the same rows, files that a
 * hostile writer makes, and files in which one byte is another.
 */
import { constants, zstdCompressSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { ArchiveFault } from '../../src/archive/archive-fault.ts';
import { hashFiles, type PartFile } from '../../src/archive/hashing/hash-files.ts';
import { readRuns } from '../../src/archive/hashing/runs.ts';
import { readRows } from '../../src/archive/read-table.ts';
import { columnsOfTable, schemaOfTable, TYPES_KEY } from '../../src/archive/table-file.ts';
import { sha256 } from '../../src/audit/seals/tree/merkle.ts';
import type { Row } from '../../src/db/binary-record.ts';
import { filesOf, leavesByRows, randomPart, randomRow } from '../support/part-files.ts';
import { createRandom } from '../support/random.ts';

/** Of one seal. */
const leavesOf = async (files: readonly PartFile[]) => (await hashFiles(files, [Infinity])).hashes;

interface Layout {
  readonly pageSize?: number;
  readonly rowGroupSize?: number;
  readonly codec?: 'UNCOMPRESSED' | 'SNAPPY' | 'ZSTD';
  readonly encodings?: Readonly<
    Record<string, 'PLAIN' | 'RLE_DICTIONARY' | 'DELTA_BINARY_PACKED' | 'BYTE_STREAM_SPLIT'>
  >;
  readonly columns?: (names: readonly string[]) => readonly string[];
  readonly schema?: (schema: SchemaElement[]) => SchemaElement[];
  readonly types?: (types: [string, ...number[]]) => unknown;
  readonly rows?: (rows: Row[]) => Row[];
  /** Of each page's bytes before they are compressed, with its number. */
  readonly page?: (bytes: Uint8Array, number: number) => void;
  readonly statistics?: boolean;
}

/** The file's rows, written with another layout. */
async function rewritten({ file, bytes }: PartFile, layout: Layout): Promise<PartFile> {
  const { pageSize = 1_048_576, codec = 'ZSTD', encodings = {}, columns = (names) => names } = layout;
  const found = await readRows(bytes);
  const rows = (layout.rows ?? ((all) => all))(found.rows);
  const writer = new ByteWriter();
  let pages = 0;
  const compressed = (input: Uint8Array) => {
    const page = Uint8Array.from(input);
    layout.page?.(page, pages);
    pages += 1;
    return zstdCompressSync(page, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  };
  const schema = schemaOfTable(found.table, found.oids);
  const parquet = new ParquetWriter({
    writer,
    codec,
    compressors: { ZSTD: compressed },
    schema: (layout.schema ?? ((all) => all))(schema),
    kvMetadata: [
      {
        key: TYPES_KEY,
        value: JSON.stringify((layout.types ?? ((all) => all))([found.table, ...found.oids])),
      },
    ],
    statistics: layout.statistics ?? true,
  });
  void parquet.write({
    columnData: columns(columnsOfTable(found.table)).map((name) =>
      Object.assign({ name, data: rows.map((row) => row[name]) }, encodings[name] && { encoding: encodings[name] }),
    ),
    rowGroupSize: layout.rowGroupSize ?? rows.length,
    pageSize,
  });
  void parquet.finish();
  return { file, bytes: new Uint8Array(writer.getBuffer()).buffer };
}

const only = (name: string, change: Partial<SchemaElement>) => (schema: SchemaElement[]) =>
  schema.map((element) => (element.name === name ? { ...element, ...change } : element));

describe('the hashes of a part are those of its rows, one by one', () => {
  test('whatever their values are', async () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const files = randomPart(1 + seed * 7, createRandom(seed));
      expect([seed, sha256(await leavesOf(files))]).toEqual([seed, sha256(await leavesByRows(files))]);
    }
  });

  test('also of tables with lists', async () => {
    const random = createRandom(3);
    for (const table of ['erasure_pages', 'webhook_history', 'send_orders', 'cpf_reads'] as const) {
      const files = filesOf({ [table]: Array.from({ length: 60 }, () => randomRow(table, random)) });
      expect([table, sha256(await leavesOf(files))]).toEqual([table, sha256(await leavesByRows(files))]);
    }
  });

  test('in small pages and groups, with dictionaries and without', async () => {
    const files = randomPart(60, createRandom(5));
    const expected = sha256(await leavesByRows(files));
    for (const pageSize of [40, 900, 1_048_576])
      for (const rowGroupSize of [7, 60])
        for (const encoding of ['PLAIN', 'RLE_DICTIONARY'] as const) {
          const others = await Promise.all(
            files.map(async (one) => {
              const names = columnsOfTable(one.file.tabela).filter((name) => name !== 'late' && name !== 'imported');
              const encodings = Object.fromEntries(names.map((name) => [name, encoding]));
              return rewritten(one, { pageSize, rowGroupSize, encodings });
            }),
          );
          expect(sha256(await leavesByRows(others))).toEqual(expected);
          expect(sha256(await leavesOf(others))).toEqual(expected);
        }
  });
});

describe('a file that its readers would read otherwise is refused', () => {
  const [events, attempts] = randomPart(40, createRandom(11)) as [PartFile, PartFile];
  const [nine] = filesOf({
    attempts: Array.from({ length: 9 }, (_, at) =>
      Object.assign(randomRow('attempts', createRandom(at)), {
        delivery_id: Buffer.alloc(16, 1 + at),
        recorded_at: BigInt(at),
      }),
    ),
  }) as [PartFile];
  const faultOf = async (layout: Layout, of: PartFile = attempts) => {
    const other = await rewritten(of, layout);
    const found = await leavesOf(of === attempts ? [events, other] : [other]).catch((error: Error) => error);
    return found instanceof ArchiveFault ? `fault: ${found.message}` : found;
  };

  test('another encoding or no compression', async () => {
    expect(await faultOf({ codec: 'UNCOMPRESSED' })).toContain('other columns');
    expect(await faultOf({ codec: 'SNAPPY' })).toContain('other columns');
    expect(await faultOf({ encodings: { number: 'BYTE_STREAM_SPLIT' } })).toContain('encoding is BYTE_STREAM_SPLIT');
    expect(await faultOf({ encodings: { number: 'DELTA_BINARY_PACKED' } })).toContain(
      'encoding is DELTA_BINARY_PACKED',
    );
    expect(await faultOf({ encodings: { delivery_id: 'BYTE_STREAM_SPLIT' } })).toContain(
      'encoding is BYTE_STREAM_SPLIT',
    );
  });

  test('another meaning of a column’s bytes', async () => {
    const changes: Readonly<Record<string, Partial<SchemaElement>>> = {
      status_code: { converted_type: 'DECIMAL', scale: 1, precision: 9 },
      tx: { converted_type: 'TIMESTAMP_MILLIS' },
      claim: { converted_type: 'ENUM' },
      body_digest: { converted_type: 'UTF8' },
    };
    expect(await leavesOf([events, await rewritten(attempts, {})])).toBeInstanceOf(Buffer);
    for (const [name, change] of Object.entries(changes))
      expect(await faultOf({ schema: only(name, change), statistics: false })).toContain('its columns are not those');
  });

  test('a column that is missing, doubled or at another place, and other types', async () => {
    const without = (all: readonly SchemaElement[]) => [
      { name: 'root', num_children: all.length - 2 },
      ...all.slice(1).filter(({ name }) => name !== 'error'),
    ];
    const names = (all: readonly string[]) => all.filter((name) => name !== 'error');
    expect(await faultOf({ columns: names, schema: without })).toContain('its columns are not those');
    expect(await faultOf({ columns: names })).toContain('other columns than the file');
    expect(await faultOf({ columns: (names) => [...names, 'error'] })).toContain('fault');
    expect(await faultOf({ columns: (names) => names.toReversed() })).toContain('fault');
    expect(await faultOf({ types: ([table, ...oids]) => [table, ...oids.slice(1), 25] })).toContain('fault');
    expect(await faultOf({ types: ([, ...oids]) => ['events', ...oids] })).toContain(
      'its columns are not those of events',
    );
    expect(await faultOf({ types: ([, ...oids]) => ['nothing', ...oids] })).toContain('of no table');
    expect(await faultOf({ types: () => null })).toContain('fault');
  });

  test('rows in another order, or of which the manifest tells something else', async () => {
    expect(await faultOf({ rows: (rows) => rows.toReversed() })).toContain('not in order');
    const changes = [
      { linhas: 39 },
      { de: '00' },
      { ate: 'ff' },
      { registradas: { de: null, ate: null } },
      { tabela: 'events' as const },
    ];
    for (const change of changes) {
      const line = { ...attempts.file, ...change };
      await expect(leavesOf([{ file: line, bytes: attempts.bytes }])).rejects.toThrow(ArchiveFault);
    }
    await expect(leavesOf([events, events])).rejects.toThrow('another file of events');
  });

  test('bounds of a group that hide its rows', async () => {
    const bytes = Buffer.from(nine.bytes.slice(0));
    // The last of its places is in the footer.
    const at = bytes.lastIndexOf(Buffer.from(nine.file.de, 'hex'));
    bytes.fill(255, at, at + 16);
    const other = { ...nine, bytes: new Uint8Array(bytes).buffer };
    await expect(leavesOf([other])).rejects.toThrow('hide its rows');
  });

  test('a salt of another length, a text without one, and one whose text is gone', async () => {
    const row = {
      ...randomRow('attempts', createRandom(2)),
      error: null,
      salt: Buffer.alloc(16),
      answer: 'não: sim',
      commitment: null,
    };
    const made = async (change: Row) => leavesOf(filesOf({ attempts: [{ ...row, ...change }] }));
    expect(await made({})).toHaveLength(32);
    await expect(
      made({ salt: Buffer.concat([Buffer.alloc(16), Buffer.from('não: ')]), answer: 'sim' }),
    ).rejects.toThrow('16 bytes');
    await expect(made({ salt: null, commitment: Buffer.alloc(32) })).rejects.toThrow('no salt');
    await expect(made({ answer: null, commitment: Buffer.alloc(32) })).rejects.toThrow('its salt is not');
    await expect(made({ answer: null, salt: null, event_id: null, commitment: Buffer.alloc(32) })).rejects.toThrow(
      'names no event',
    );
  });

  test('a snapshot that PostgreSQL does not write so, and an instant before its first', async () => {
    const having = (change: Row): Layout => ({ rows: (rows) => rows.map((row) => Object.assign({}, row, change)) });
    for (const snapshot of [
      '10;12:',
      '1:2',
      '1:2:3,',
      '01:2:',
      ':2:3',
      '1:2:3:4',
      '9007199254740993:9007199254740993:',
    ])
      expect(await faultOf(having({ snapshot }), events)).toContain('is no snapshot');
    expect(await faultOf(having({ occurred_at: -(2n ** 63n) }), events)).toContain('before all that PostgreSQL has');
  });

  test('values, indices and runs that go beyond their page', async () => {
    const plain = Object.fromEntries(
      columnsOfTable('attempts')
        .filter((name) => name !== 'late')
        .map((name) => [name, 'PLAIN' as const]),
    );
    expect(await leavesOf([await rewritten(nine, { encodings: plain })])).toHaveLength(9 * 32);
    for (const length of [0x7fffffff, 0x80000000, 0xffffffff, 70_001]) {
      const change = (bytes: Uint8Array, number: number) => {
        if (number === columnsOfTable('attempts').indexOf('outcome') && bytes.length > 4)
          new DataView(bytes.buffer).setUint32(0, length, true);
      };
      expect(await faultOf({ encodings: plain, page: change }, nine)).toContain('beyond its page');
    }
    // Two pages for a column with a dictionary: its values, and their indices.
    const indexed = { ...plain, delivery_id: 'RLE_DICTIONARY' as const };
    const beyond = (bytes: Uint8Array, number: number) => {
      if (number === 1) bytes.fill(255, 2);
    };
    expect(await faultOf({ encodings: indexed, page: beyond }, nine)).toContain('beyond its dictionary');
  });
});

test('a run that goes beyond its page, packed values that do, and values of many bits are refused', () => {
  const filled = (bytes: number[], bits: number, count: number) => {
    const output = new Int32Array(count);
    readRuns(Buffer.from(bytes), bits, output);
    return [...output];
  };
  expect(filled([20, 1], 1, 10)).toEqual(Array(10).fill(1));
  expect(() => filled([22, 1], 1, 10)).toThrow('beyond its page');
  expect(() => filled([18, 1], 1, 10)).toThrow(RangeError);
  expect(filled([3, 0b10110001, 6, 1], 1, 11)).toEqual([1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1]);
  expect(() => filled([5, 255], 1, 10)).toThrow('beyond their page');
  expect(filled([3, 0b10001000, 0b11000110, 0b11111010], 3, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(filled([3], 0, 8)).toEqual(Array(8).fill(0));
  expect(filled([16, 0xcd, 0xab], 16, 8)).toEqual(Array(8).fill(0xabcd));
  expect(() => filled([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7e, 1], 1, 10)).toThrow(RangeError);
  expect(() => filled([20, 1, 1, 1, 1], 32, 10)).toThrow('32 bits');
});

test('a byte that is another anywhere gives a fault, or the hashes of what readers then have', async () => {
  const random = createRandom(17);
  let [refused, same] = [0, 0];
  for (const table of ['events', 'attempts'] as const) {
    const [part] = filesOf({
      [table]: Array.from({ length: 6 }, () => randomRow(table, random)).map((row) =>
        Object.assign(
          row,
          Object.fromEntries(
            Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, 9) : value]),
          ),
        ),
      ),
    }) as [PartFile];
    for (let change = 0; change < 300; change += 1) {
      const bytes = new Uint8Array(part.bytes.slice(0));
      const at = random.below(bytes.length);
      const byte = bytes[at] as number;
      bytes[at] = random.pick([byte ^ 1, byte + 2, 255 - byte, random.below(256)]);
      const files = [{ ...part, bytes: bytes.buffer }];
      const found = await leavesOf(files).catch((error: unknown) => error);
      if (found instanceof ArchiveFault) {
        refused += 1;
        continue;
      }
      same += 1;
      const byRows = await leavesByRows(files).catch((error: Error) => error.message);
      // No row that was sealed has a text that is no UTF-8.
      const expected = String(byRows).includes('not valid for encoding utf-8') ? found : byRows;
      expect([table, at, bytes[at], sha256(found as Buffer)]).toEqual([
        table,
        at,
        bytes[at],
        sha256(expected as Buffer),
      ]);
    }
  }
  expect(Math.min(refused, same)).toBeGreaterThan(20);
});
