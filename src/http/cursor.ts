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

const parts = z.tuple([timestamp, id, z.string()]);

/** Writes a place of `list`, whose name tells it from every other list. */
export function writeCursor(list: string, place: Place): string {
  const fields = [place.at.toISOString(), place.id];
  return Buffer.from([...fields, digestOf(list, fields)].join(' ')).toString('base64url');
}

/** The place that was written for `list`; null for anything else. */
export function readCursor(list: string, cursor: string): Place | null {
  const parsed = parts.safeParse(Buffer.from(cursor, 'base64url').toString().split(' '));
  if (!parsed.success) return null;
  const [at, placeId] = parsed.data;
  const place = { at: new Date(at), id: placeId };
  return writeCursor(list, place) === cursor ? place : null;
}

function digestOf(list: string, fields: readonly string[]): string {
  return createHash('sha256')
    .update([list, ...fields].join(' '))
    .digest('base64url')
    .slice(0, 16);
}
