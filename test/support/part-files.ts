/** Files of a part that a test makes of rows, with the manifest's lines on them, and their leaves, row by row. */
import { commitmentOf, commitmentsOf, TEXTS as TEXTS_OF, withDigests } from '../../src/archive/commitments.ts';
import type { PartFile } from '../../src/archive/hashing/hash-files.ts';
import { readRows } from '../../src/archive/read-table.ts';
import { columnsOfTable, entryOf, type TableFile, TableFiles, type TableName } from '../../src/archive/table-file.ts';
import { LeafList } from '../../src/audit/seals/leaves.ts';
import { hexOf, type Row, uuidOf } from '../../src/db/binary-record.ts';
import type { SourceName } from '../../src/db/sealed-rows.ts';
import type { Random } from './random.ts';

const TYPES: Readonly<Record<number, string>> = {
  16: 'late imported is_test',
  17: 'body_digest salt commitment',
  20: 'position',
  21: 'status_code epoch lost_in_row',
  23: 'number duration_ms version fan_out catalog_version loan_version attempts failures',
  1001: 'remains',
  1009: 'events',
  1184: 'started_at recorded_at occurred_at ordered_at changed_at takes_effect_at created_at finished_at',
  2950: 'id delivery_id event_id webhook_id partner_id stream order_id request_uuid',
  2951: 'event_ids',
  5038: 'snapshot',
  5069: 'tx',
};
const typeOf = (name: string) => Object.keys(TYPES).find((oid) => TYPES[Number(oid)]?.split(' ').includes(name));

/** The types of a file's columns in PostgreSQL. */
export const oidsOf = (table: TableName) => columnsOfTable(table).map((name) => Number(typeOf(name) ?? 25));

export const nothing = (table: TableName): Row => Object.fromEntries(columnsOfTable(table).map((name) => [name, null]));

export function filesOf(tables: Partial<Record<TableName, readonly Row[]>>): PartFile[] {
  const files = new TableFiles();
  for (const [table, rows] of Object.entries(tables) as [TableName, Row[]][]) files.put(table, oidsOf(table), rows);
  return files.files().map(partFileOf);
}

export function partFileOf({ table, rows, ids, times, bytes }: TableFile): PartFile {
  const line = { tabela: table, linhas: rows, bytes: bytes.length, sha256: '', ...ids, registradas: times };
  return { file: { nome: `${table}.parquet`, ...line }, bytes: new Uint8Array(bytes).buffer };
}

/** The leaves of a part as its readers have the rows, in order; those whose transaction is below `end` and not below `from`. */
export async function leavesByRows(files: readonly PartFile[], from = 0, end = Infinity): Promise<Buffer> {
  const list = new LeafList();
  let commitments = new Map<string, Buffer>();
  for (const { file, bytes } of files) {
    if (file.tabela === 'deliveries') continue;
    const { table, oids, rows } = await readRows(bytes);
    if (table === 'events') commitments = new Map(commitmentsOf(rows));
    for (const row of withDigests(rows, commitments)) {
      const tx = Number(BigInt.asUintN(64, row['tx'] as bigint));
      if (tx < from || tx >= end) continue;
      list.add(entryOf(table as SourceName, oids, row, commitmentOf(table, row)));
    }
  }
  return (await list.finish()).hashes;
}

const TEXTS = [
  '',
  ' ',
  '\uFEFFmarca',
  'ação',
  '😀\u{10FFFF}',
  'e\u0301',
  '{"a": "\\u0000\\"", "b":1.50}',
  '\u2028\r\n\t',
  "o'",
  'x'.repeat(70_000),
];
const LONGS = [0n, 1n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const US_PER_S = 1_000_000n;
/** Of PostgreSQL's range: its first instant, and those around 1970, 2000 and a carry between halves of 32 bits. */
const INSTANTS = [
  -210_866_803_200_000_000n,
  -1n,
  0n,
  1n,
  946_684_799_999_999n,
  946_684_800_000_000n,
  2n ** 32n * 220_415n - 1n,
];

/** A value of a type, often one of its ends. */
function sample(oid: number, random: Random): unknown {
  const { below, pick, chance } = random;
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => below(256)));
  const text = () => (chance(0.5) ? pick(TEXTS) : `t${below(5)}`);
  const list = <T>(element: () => T) => Array.from({ length: below(4) }, element);
  switch (oid) {
    case 16:
      return chance(0.5);
    case 17:
      return bytes(pick([0, 1, 31, 49, 300]));
    case 20:
      return chance(0.5) ? pick(LONGS) : BigInt(below(2 ** 31)) * 2n ** 20n;
    case 21:
      return pick([0, 1, -1, 200, 255, 256, 32_767, -32_768]);
    case 23:
      return chance(0.5) ? pick([0, -1, 2 ** 31 - 1, -(2 ** 31)]) : below(5);
    case 25:
      return text();
    case 1001:
      return list(() => bytes(below(40)));
    case 1009:
      return list(() => (chance(0.2) ? null : text()));
    case 1184:
      return chance(0.5) ? pick(INSTANTS) : BigInt(below(2 ** 31)) * US_PER_S + BigInt(below(1_000_000));
    case 2950:
      return pick([bytes(16), Buffer.alloc(16), Buffer.alloc(16, 255)]);
    case 2951:
      return list(() => uuidOf(bytes(16)));
    case 5038:
      return pick(['1:1:', '7:9:8', '10:4294967297:11,4294967296', `1:9007199254740991:${below(9) + 1}`]);
    default:
      return BigInt(below(2 ** 31)) * 2n ** 20n + BigInt(below(5));
  }
}

const NEVER_NULL = new Set('id event_id delivery_id number late recorded_at stream tx epoch'.split(' '));

/** A row with nulls, as an erasure leaves some. Its digest is none, its event's own (`hash`) or another. */
export function randomRow(table: TableName, random: Random, hash?: Uint8Array): Row {
  const names = columnsOfTable(table);
  const oids = oidsOf(table);
  const value = (name: string, oid: number) =>
    !NEVER_NULL.has(name) && random.chance(0.2) ? null : sample(oid, random);
  const row = Object.fromEntries(names.map((name, index) => [name, value(name, oids[index] ?? 0)]));
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256)));
  const text = TEXTS_OF[table];
  if (text === undefined) return row;
  const isErased = random.chance(0.2);
  const texts = isErased
    ? { salt: null, [text]: null, commitment: bytes(32) }
    : { salt: bytes(16), commitment: null, [text]: table === 'events' ? sample(25, random) : row[text] };
  return {
    ...row,
    ...texts,
    ...(table === 'attempts' && { body_digest: random.pick([null, bytes(32), hash ?? null]) }),
  };
}

/** Events, and attempts at them. */
export function randomPart(rows: number, random: Random): PartFile[] {
  const events = Array.from({ length: rows }, () => randomRow('events', random));
  const hashes = commitmentsOf(events);
  const attempts = events.map(({ id }) => ({
    ...randomRow('attempts', random, hashes.get(hexOf(id))),
    event_id: id,
  }));
  return filesOf({ events, attempts });
}
