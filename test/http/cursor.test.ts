import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { id } from '../../src/contract/values.ts';
import { bigintField, momentField, readCursor, writeCursor, xid8Field } from '../../src/http/cursor.ts';

const key = randomBytes(32);
const anything = z.array(z.string());
const field = fc.stringMatching(/^[!-~]{1,40}$/);
const fields = fc.array(field, { minLength: 1, maxLength: 5 });
const list = fc.string({ maxLength: 60 });

describe('a cursor', () => {
  test('that was written is read again, for its own list alone', () => {
    const check = fc.property(list, list, fields, (mine, other, written) => {
      const cursor = writeCursor(key, mine, written);
      expect(readCursor(key, mine, anything, cursor)).toEqual(written);
      expect(readCursor(key, other, anything, cursor)).toEqual(other === mine ? written : null);
    });
    fc.assert(check);
  });

  test('of another installation is none', () => {
    const check = fc.property(list, fields, (mine, written) => {
      expect(readCursor(key, mine, anything, writeCursor(randomBytes(32), mine, written))).toBeNull();
    });
    fc.assert(check);
  });

  test('with any one thing changed, added or cut is none', () => {
    const check = fc.property(list, fields, fc.nat(), fc.base64String({ maxLength: 8 }), (mine, written, at, put) => {
      const cursor = writeCursor(key, mine, written);
      const cut = at % (cursor.length + 1);
      const others = [cursor.slice(0, cut) + put + cursor.slice(cut), cursor.slice(0, cut), `${cursor}=`];
      others.push(cursor.slice(0, cut) + (cursor[cut] === 'A' ? 'B' : 'A') + cursor.slice(cut + 1));
      for (const each of others.filter((one) => one !== cursor)) {
        expect([each, readCursor(key, mine, anything, each)]).toEqual([each, null]);
      }
    });
    fc.assert(check);
  });

  test("takes no field for the end of its list's name", () => {
    expect(readCursor(key, 'eventos', anything, writeCursor(key, 'eventos 1', ['2']))).toBeNull();
    const moved = Buffer.from(writeCursor(key, 'eventos 1', ['2']), 'base64url').toString();
    expect(readCursor(key, 'eventos', anything, Buffer.from(`1 ${moved}`).toString('base64url'))).toBeNull();
  });

  test('whose fields are not those of its list is none, even under the right key', () => {
    const cursorFields = z.tuple([xid8Field, bigintField]);
    const read = (given: readonly string[]) =>
      readCursor(key, 'eventos', cursorFields, writeCursor(key, 'eventos', given));
    expect(read(['18446744073709551615', '9223372036854775807'])).toEqual([
      '18446744073709551615',
      '9223372036854775807',
    ]);
    const wrong = ['18446744073709551616', '-1', '01', '1.0', '1e3', ' 1', '', '٣', '99999999999999999999'];
    for (const text of wrong) expect([text, read([text, '1'])]).toEqual([text, null]);
    expect(read(['1', '9223372036854775808'])).toBeNull();
    expect(read(['1'])).toBeNull();
    expect(read(['1', '1', '1'])).toBeNull();
  });

  test.each([
    '0000-01-01T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '2026-02-30T00:00:00.000Z',
    '+010000-01-01T00:00:00.000Z',
    '2026-01-01',
  ])('holds no moment %s', (text) => {
    const cursor = writeCursor(key, 'novos', [text, '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b']);
    expect(readCursor(key, 'novos', z.tuple([momentField, id]), cursor)).toBeNull();
  });
});
