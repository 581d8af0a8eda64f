/**
 * Hashes of erasable texts in a month's files. If a text has its salt beside it, its hash is computed and not stored. An
 * attempt's digest of the sent body is left out if its event has the same hash and is in the same part.
 * Invariant: each row gives the hashes that were sealed: an erasure takes an event's text and salt and leaves its hash.
 * Alternative: a digest in each row, 32 random bytes more beside 131 a delivery.
 */
import { sha256 } from '../audit/seals/tree/merkle.ts';
import { hexOf, type Row } from '../db/binary-record.ts';

/** The columns that an entry has as salted hashes. */
export const TEXTS: Readonly<Record<string, string>> = { events: 'body', attempts: 'answer' };
/** An attempt's value in the place of a digest that is its event's hash; null is an attempt without a digest. */
const EVENTS_OWN = Buffer.alloc(0);

export type Commitments = ReadonlyMap<string, Buffer>;

/** A leaf's part for a row's text: its salted hash, which stands in the row itself once the text was erased. */
export function commitmentOf(table: string, row: Row): unknown {
  const text = row[TEXTS[table] ?? ''];
  const { salt } = row;
  const hasText = typeof text === 'string' && salt instanceof Uint8Array;
  return hasText ? sha256(Buffer.concat([salt, Buffer.from(text)])) : row['commitment'];
}

export function commitmentsOf(events: readonly Row[]): Commitments {
  return new Map(events.map((row) => [hexOf(row['id']), Buffer.from(commitmentOf('events', row) as Uint8Array)]));
}

/** The digests that attempts beside these events keep in their file. */
export function digestsToKeep(attempts: readonly Row[], commitments: Commitments): unknown[] {
  return attempts.map(({ event_id: event, body_digest: digest }) => {
    const isEvents = digest !== null && event !== null && commitments.get(hexOf(event))?.equals(digest as Uint8Array);
    return isEvents === true ? EVENTS_OWN : digest;
  });
}

export function lacksDigest({ body_digest: digest }: Row): boolean {
  return digest instanceof Uint8Array && digest.length === 0;
}

/** Attempts of a file with their digests; one whose event is not there has none, and its leaf is another one then. */
export function withDigests(attempts: readonly Row[], commitments: Commitments): Row[] {
  return attempts.map((row) =>
    lacksDigest(row) ? { ...row, body_digest: commitments.get(hexOf(row['event_id'])) ?? null } : row,
  );
}
