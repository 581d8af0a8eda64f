/** The hashes of a part's files are those that PostgreSQL makes of the rows, of each table and of values at the ends of each type. */
import { expect, test } from 'vitest';
import { TEXTS } from '../../src/archive/commitments.ts';
import { hashFiles } from '../../src/archive/hashing/hash-files.ts';
import { columnsOfTable, TableFiles } from '../../src/archive/table-file.ts';
import { LeafList } from '../../src/audit/seals/leaves.ts';
import { sha256 } from '../../src/audit/seals/tree/merkle.ts';
import { hexOf, uuidOf } from '../../src/db/binary-record.ts';
import { columnsOf, SOURCE_NAMES } from '../../src/db/sealed-rows.ts';
import { createTestDatabase } from '../support/database.ts';
import { leavesByRows, oidsOf, partFileOf, randomRow } from '../support/part-files.ts';
import { createRandom } from '../support/random.ts';

const { sql } = await createTestDatabase();

const NAMES: Readonly<Record<number, string>> = {
  16: 'bool',
  17: 'bytea',
  20: 'int8',
  21: 'int2',
  23: 'int4',
  25: 'text',
  1001: 'bytea[]',
  1009: 'text[]',
  2950: 'uuid',
  2951: 'uuid[]',
  5038: 'pg_snapshot',
  5069: 'xid8',
};
const DAY_US = 86_400_000_000n;
const FROM_2000_US = 946_684_800_000_000n;

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** A value as PostgreSQL reads it. */
function literal(oid: number, value: unknown): string {
  if (value === null) return `null::${oid === 1184 ? 'timestamptz' : NAMES[oid]}`;
  if (Array.isArray(value)) {
    const element = oid === 1001 ? 17 : oid === 1009 ? 25 : 2950;
    return `array[${value.map((one) => literal(element, one)).join(', ')}]::${NAMES[oid]}`;
  }
  if (oid === 1184) {
    const since = (value as bigint) - FROM_2000_US;
    const days = (since - (((since % DAY_US) + DAY_US) % DAY_US)) / DAY_US;
    return `((timestamp '2000-01-01' + make_interval(days => ${days}) + ${since - days * DAY_US} * interval '1 microsecond') at time zone 'UTC')`;
  }
  if (oid === 17) return `'\\x${hexOf(value)}'::bytea`;
  const text = oid === 2950 ? uuidOf(value) : (value as bigint).toString();
  return `${quoted(text)}::${NAMES[oid]}`;
}

test.each(SOURCE_NAMES)('%s', async (table) => {
  const random = createRandom(SOURCE_NAMES.indexOf(table) + 1);
  const rows = Array.from({ length: 50 }, () => randomRow(table, random));
  const oids = oidsOf(table);
  const text = TEXTS[table];
  const files = new TableFiles();
  const list = new LeafList();
  for (const row of rows) {
    const column = (name: string) => literal(oids[columnsOfTable(table).indexOf(name)] ?? 0, row[name]);
    const hashOf = (of: string) =>
      `case when ${column('salt')} is null then ${column('commitment')} else sha256(${column('salt')} || convert_to(${column(of)}, 'UTF8')) end`;
    const sealed = columnsOf(table).map((name) =>
      name === 'commitment' && text !== undefined ? hashOf(text) : column(name),
    );
    const [made] = await sql.unsafe<[{ record: Buffer; entry: Buffer }]>(
      `select record_send(row('${table}'::text, ${columnsOfTable(table).map(column).join(', ')})) as record,
              '\\x00'::bytea || record_send(row('${table}'::text, ${sealed.join(', ')})) as entry`,
    );
    files.add(made.record);
    list.add(made.entry);
  }
  const made = files.files().map(partFileOf);
  const expected = sha256((await list.finish()).hashes);
  expect(sha256((await hashFiles(made, [Infinity])).hashes)).toEqual(expected);
  expect(sha256(await leavesByRows(made))).toEqual(expected);
});
