/** Acts on archived months (src/archive). */
import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, text } from 'drizzle-orm/pg-core';
import { ARCHIVE_ACTS } from '../../src/contract/statuses.ts';
import { bytea, instant, place } from './columns.ts';
import { oneOf, sealed } from './constraints.ts';

/** Append-only and sealed, so a month's manifest digest is in the log before any row is removed. A month's state is its newest row. */
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
    /** Of the deliveries, which no seal covers: SHA-256 of their files' digests (archive/manifest.ts). */
    deliveries: bytea('deliveries').notNull(),
    /** Rows of the seals; of a removal or a restoration, rows removed or restored. */
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
