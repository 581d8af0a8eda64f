/** What was done to the months that go to an archive (src/archive). */
import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, text } from 'drizzle-orm/pg-core';
import { ARCHIVE_ACTS } from '../../src/contract/statuses.ts';
import { bytea, instant, place } from './columns.ts';
import { oneOf, sealed } from './constraints.ts';

/**
 * Append-only and sealed, so that the digest of a month's manifest is in the log before any of its rows is removed. A month's state
 * is its newest row.
 */
export const archiveActs = pgTable(
  'archive_acts',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    act: text('act', { enum: ARCHIVE_ACTS }).notNull(),
    /** `2026-10`. */
    month: text('month').notNull(),
    firstSeal: bigint('first_seal', { mode: 'number' }).notNull(),
    lastSeal: bigint('last_seal', { mode: 'number' }).notNull(),
    /** A directory's path, or `s3://bucket/prefix`. */
    place: text('place').notNull(),
    /** SHA-256 of the manifest. */
    manifest: bytea('manifest').notNull(),
    /** Of the deliveries, which no seal covers: SHA-256 of the digests of their files (archive/manifest.ts). */
    deliveries: bytea('deliveries').notNull(),
    /** Of the seals; of a removal or a restoration, those that went or came back. */
    rows: bigint('rows', { mode: 'number' }).notNull(),
    actor: text('actor').notNull(),
    reason: text('reason'),
    doneAt: instant('done_at').notNull().defaultNow(),
    ...place(),
  },
  (table) => [
    index('archive_acts_newest').on(table.month, table.position),
    ...sealed('archive_acts'),
    check('archive_acts_act', oneOf('act', ARCHIVE_ACTS)),
    check('archive_acts_seals', sql`first_seal between 1 and last_seal`),
  ],
);
