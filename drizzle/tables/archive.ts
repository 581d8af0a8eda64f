/** What was done to the months that go to an archive (src/archive). */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, date, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
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

/**
 * The loans whose events left with their months: a row for each, until the events are back. While it stands, what the log has of the
 * stream is less than all, so nothing may be appended to it or folded of it.
 */
export const archivedStreams = pgTable(
  'archived_streams',
  {
    stream: uuid('stream').primaryKey(),
    /** Of its last event. */
    version: integer('version').notNull(),
    /** Some of its events may still be in the database: `maintain` goes on with it. */
    isLeaving: boolean('is_leaving').notNull().default(true),
    /** The days of its first and of its last event. */
    firstOn: date('first_on').notNull(),
    lastOn: date('last_on').notNull(),
    /** By their versions; each event's file is found by its id. */
    eventIds: uuid('event_ids').array().notNull(),
    /** Of its events, as `stream_digest` has it: it comes back as it was, or not at all. */
    digest: bytea('digest').notNull(),
    /** SHA-256 of the loan's state, which stays in `loans`. */
    stateDigest: bytea('state_digest').notNull(),
  },
  (table) => [
    index('archived_streams_leaving')
      .on(table.stream)
      .where(sql`is_leaving`),
    index('archived_streams_by_day').using('brin', table.firstOn, table.lastOn),
  ],
);
