/**
 * An opaque, signed position in a list: base64url of its fields, and an HMAC-SHA-256 over the list's name and the fields.
 *
 * Invariant: only a cursor that this installation wrote for the same list is read; any other text is null, which a route answers
 * with 400. The key lies in the database, because partners keep cursors for months; a key made of `SECRETS_KEY` would end with its
 * rotation. To add a field after a release, let the schema be a union of the old tuple and the new one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { timestamp } from '../contract/values.ts';
import type { Pool } from '../db/pool.ts';
import { invalid } from './validation.ts';

/** The fields of a cursor as text; none of them is empty or holds a space. */
type Fields = readonly string[];

export interface Cursors {
  /** Writes a cursor of `list`, whose name tells it from every other list. */
  write(list: string, fields: Fields): Promise<string>;
  /** The fields of the cursor that the parameter `field` holds, as `schema` makes of them; null without one. Throws 400 for another list's. */
  read<S extends z.ZodType>(
    list: string,
    schema: S,
    given: string | undefined,
    field?: string,
  ): Promise<z.output<S> | null>;
}

const MAC_CHARACTERS = 22;

/** Cursors under the key of the database. Both methods throw as the pool does until the key was read once. */
export function createCursors(pool: Pool): Cursors {
  let known: Buffer | null = null;
  const key = async (): Promise<Buffer> => (known ??= await readKey(pool));
  return {
    write: async (list, fields) => writeCursor(await key(), list, fields),
    read: async (list, schema, given, field = 'cursor') => {
      const read = given === undefined ? null : readCursor(await key(), list, schema, given);
      if (given === undefined || read !== null) return read;
      throw invalid([{ campo: field, mensagem: 'deve ser o proximo_cursor de uma resposta desta lista' }]);
    },
  };
}

async function readKey(pool: Pool): Promise<Buffer> {
  const [row] = await pool.run((sql) => sql<{ key: Buffer }[]>`select key from cursor_keys`);
  if (row === undefined)
    throw new Error('cursor_keys is empty: bring its row back from the database it was copied from');
  return row.key;
}

export function writeCursor(key: Buffer, list: string, fields: Fields): string {
  // As JSON, or the end of the list's name could be taken for a field.
  const mac = createHmac('sha256', key).update(JSON.stringify([list, ...fields]));
  return Buffer.from([...fields, mac.digest('base64url').slice(0, MAC_CHARACTERS)].join(' ')).toString('base64url');
}

export function readCursor<S extends z.ZodType>(
  key: Buffer,
  list: string,
  schema: S,
  cursor: string,
): z.output<S> | null {
  const fields = Buffer.from(cursor, 'base64url').toString().split(' ').slice(0, -1);
  // Compared whole: base64 has several spellings of the same bytes, and the service writes one of them.
  const [given, written] = [Buffer.from(cursor), Buffer.from(writeCursor(key, list, fields))];
  if (given.length !== written.length || !timingSafeEqual(given, written)) return null;
  const parsed = schema.safeParse(fields);
  return parsed.success ? parsed.data : null;
}

/** A whole number from 0 to `max`, as PostgreSQL and JavaScript write it; stays a text. */
function wholeNumber(max: bigint) {
  return z.string().refine((text) => /^(0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= max);
}

export const bigintField = wholeNumber(2n ** 63n - 1n);
/** An epoch, a `smallint`. */
export const epochField = wholeNumber(2n ** 15n - 1n);
export const xid8Field = wholeNumber(2n ** 64n - 1n);
/** A moment from 1970 to 9999: a period's bound, or when a row was written. */
export const momentField = timestamp.refine((text) => text >= '1970').transform((text) => new Date(text));
