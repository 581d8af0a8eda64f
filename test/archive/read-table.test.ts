/** Parts of a file that has three row groups: of attempts between two places, and of one delivery. */
import { hexOf, type Row } from '../../src/db/binary-record.ts';
import { describe, expect, test } from 'vitest';
import { digestsToKeep, withDigests } from '../../src/archive/commitments.ts';
import { readBetween, readRows } from '../../src/archive/read-table.ts';
import { columnsOfTable, type TableFile, TableFiles } from '../../src/archive/table-file.ts';
import { placeOf } from '../../src/audit/lists/place.ts';
import type { Range } from '../../src/audit/lists/kind.ts';

const ROWS = 40_000;
const START_US = BigInt(Date.UTC(2026, 0, 1)) * 1_000n;
const TYPES: Readonly<Record<number, string>> = {
  16: 'late',
  17: 'body_digest salt commitment',
  21: 'status_code epoch',
  23: 'number duration_ms',
  1184: 'started_at recorded_at',
  2950: 'delivery_id event_id webhook_id partner_id',
  5069: 'tx',
};
const typeOf = (name: string) => Object.keys(TYPES).find((oid) => TYPES[Number(oid)]?.split(' ').includes(name));
const oids = columnsOfTable('attempts').map((name) => Number(typeOf(name) ?? 25));

function idOf(number: number): Buffer {
  const id = Buffer.alloc(16);
  id.writeUInt32BE(number);
  return id;
}

/** A hundred attempts in each millisecond; each delivery has its second one 10,000 rows later. */
const rows: Row[] = Array.from({ length: ROWS }, (_, at) => ({
  ...Object.fromEntries(columnsOfTable('attempts').map((name) => [name, null])),
  delivery_id: idOf(at % 20_000 < 10_000 ? at : at - 10_000),
  number: at % 20_000 < 10_000 ? 1 : 2,
  late: false,
  partner_id: idOf(at % 400),
  recorded_at: START_US + BigInt(Math.floor(at / 100)) * 1_000n,
}));
const files = new TableFiles();
files.put('attempts', oids, rows.toReversed());
const written = files.files()[0] as TableFile;
const file = new Uint8Array(written.bytes).buffer;

const numberOf = (row: Row) => {
  const delivery = Buffer.from(row['delivery_id'] as Uint8Array).readUInt32BE();
  return row['number'] === 1 ? delivery : delivery + 10_000;
};
const placeAt = (at: number) => {
  const row = rows[at] as Row;
  const moment = new Date(Number((row['recorded_at'] as bigint) / 1_000n)).toISOString();
  return placeOf([moment, (row['delivery_id'] as Buffer).toString('hex'), String(row['number']), 'false']);
};
const between = async (range: Partial<Range>) => {
  const whole = { from: '', below: '~', isNewestFirst: true, most: 5, having: {}, ...range };
  return (await readBetween(file, whole)).rows.map(numberOf);
};

describe('attempts between two places', () => {
  test('are the nearest to the end that is asked for, over the borders of groups', async () => {
    expect(await between({})).toEqual([39_995, 39_996, 39_997, 39_998, 39_999]);
    expect(await between({ isNewestFirst: false })).toEqual([0, 1, 2, 3, 4]);
    for (const border of [16_384, 32_768]) {
      const around = [border - 2, border - 1, border, border + 1, border + 2];
      expect(await between({ below: placeAt(border + 3) })).toEqual(around);
      expect(await between({ from: placeAt(border - 2), isNewestFirst: false })).toEqual(around);
      expect(await between({ from: placeAt(border - 1), below: placeAt(border + 1) })).toEqual([border - 1, border]);
    }
    expect(await between({ from: placeAt(7), below: placeAt(7) })).toEqual([]);
  });

  test('are bounded by a moment on either side, and each of it is there', async () => {
    const moment = placeOf([new Date(Date.UTC(2026, 0, 1) + 200).toISOString()]);
    expect(await between({ below: moment, most: 1 })).toEqual([19_999]);
    expect(await between({ from: moment, isNewestFirst: false, most: 1 })).toEqual([20_000]);
  });

  test('of a partner are looked for in every group', async () => {
    const having = { partner_id: idOf(399).toString('hex') };
    expect(await between({ having, most: 3 })).toEqual([39_199, 39_599, 39_999]);
    expect(await between({ having, most: 1_000 })).toHaveLength(100);
  });
});

test('a tenth attempt lies behind a ninth', () => {
  expect(placeOf(['2026-01-01T00:00:00Z', '10']) > placeOf(['2026-01-01T00:00:00Z', '9'])).toBe(true);
});

test('a delivery is found with its attempts of two groups, and the file says what it holds', async () => {
  const found = await readRows(file, { keys: new Set([hexOf(idOf(9_999))]) });
  expect(found.rows.map(numberOf)).toEqual([9_999, 19_999]);
  expect(written.ids).toEqual({ de: idOf(0).toString('hex'), ate: idOf(29_999).toString('hex') });
  expect(written.times).toEqual({ de: '2026-01-01T00:00:00.000Z', ate: '2026-01-01T00:00:00.399Z' });
});

test('a digest that is its event’s hash is left out and found again; another one, none, and one of an event elsewhere stay', () => {
  const [own, other, event, elsewhere] = [1, 2, 3, 4].map((byte) => Buffer.alloc(32, byte)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const commitments = new Map([[event.toString('hex'), own]]);
  const attempts = [
    { event_id: event, body_digest: own },
    { event_id: event, body_digest: other },
    { event_id: event, body_digest: null },
    { event_id: elsewhere, body_digest: own },
    { event_id: null, body_digest: own },
  ];
  const kept = digestsToKeep(attempts, commitments);
  expect(kept).toEqual([Buffer.alloc(0), other, null, own, own]);
  const file = attempts.map((row, index) => ({ ...row, body_digest: kept[index] }));
  expect(withDigests(file, commitments)).toEqual(attempts);
  expect(withDigests(file, new Map([[event.toString('hex'), other]]))[0]?.['body_digest']).toBe(other);
});
