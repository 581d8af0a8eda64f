/**
 * An opaque place in a list. The digest is no secret: a cursor only tells where its own partner went on reading. It
 * makes one that was altered, cut short or taken from another list a 400 instead of a page of something else.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { id, timestamp } from '../contract/values.ts';

export interface Place {
  readonly at: Date;
  readonly id: string;
}

const parts = z.tuple([timestamp, id]);

/** Writes a place of `list`, whose name tells it from every other list. */
export function writeCursor(list: string, place: Place): string {
  return writePlace(list, [place.at.toISOString(), place.id]);
}

/** The place that was written for `list`; null for anything else. */
export function readCursor(list: string, cursor: string): Place | null {
  const parsed = parts.safeParse(readPlace(list, cursor));
  return parsed.success ? { at: new Date(parsed.data[0]), id: parsed.data[1] } : null;
}

/** Writes a place that other fields than time and id make out; none of them holds a space. */
export function writePlace(list: string, fields: readonly string[]): string {
  return Buffer.from([...fields, digestOf(list, fields)].join(' ')).toString('base64url');
}

/** The fields that were written for `list`; null for anything else. */
export function readPlace(list: string, cursor: string): string[] | null {
  const fields = Buffer.from(cursor, 'base64url').toString().split(' ').slice(0, -1);
  return fields.length > 0 && writePlace(list, fields) === cursor ? fields : null;
}

function digestOf(list: string, fields: readonly string[]): string {
  return createHash('sha256')
    .update([list, ...fields].join(' '))
    .digest('base64url')
    .slice(0, 16);
}
