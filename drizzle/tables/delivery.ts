/**
 * The outbox and its lanes.
 * The hot tables (`events`, `deliveries`, `pending`, `lanes`, `attempts`) have no foreign key to `webhooks` or `partners`: each check would
 * lock the parent's row, and all writers of one partner would queue on it. Their rows come from `insert … select` of those tables, which no
 * role may delete from.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  real,
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { DELIVERY_STATUSES } from '../../src/contract/statuses.ts';
import { CLOCK, instant, ownId, preciseInstant, virtual, xid8 } from './columns.ts';

/** When the event, and with it the delivery, was appended. */
const timeOfEvent = virtual<Date>('timestamp (3) with time zone', 'uuid_extract_timestamp(event_id)');

/**
 * The outbox: one row per event and webhook. While `pendente`, `next_attempt_at` is its due time, and `pending` has a row of it. `attempts`
 * is the number of the last ended attempt, `failures` the spent slots of the schedule, `lost_in_row` the attempts lost since the last
 * outcome; null for none, because 0 takes 8 of a row's 128 B. `is_test` (or null): a test by its partner, tried once. `stopped` is null
 * between `pendente` and `entregue`.
 * A claim does not write here, and the record's update is heap-only: no index has its columns.
 * `deliveries` and `attempts` have one CHECK each, a function (`is_sound_delivery`, `is_sound_attempt`): a writing statement parses its
 * table's CHECKs anew, and nine took two thirds of an insert. Columns of `events`, `deliveries` and `attempts` stand widest first, without
 * padding: 8 to 16 B a row.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    nextAttemptAt: preciseInstant('next_attempt_at'),
    finishedAt: instant('finished_at'),
    attempts: integer('attempts').notNull().default(0),
    failures: smallint('failures').notNull().default(0),
    lostInRow: smallint('lost_in_row'),
    id: ownId(),
    eventId: uuid('event_id').notNull(),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    status: text('status', { enum: DELIVERY_STATUSES }).notNull().default('pendente'),
    stopped: text('stopped').generatedAlwaysAs(sql`case when status in ('erro', 'suspensa') then status end`),
    isTest: boolean('is_test'),
    createdAt: timeOfEvent('created_at'),
  },
  (table) => [
    // The webhook first: by its UUIDv7 events this is also each webhook's list by time.
    unique('deliveries_once').on(table.webhookId, table.eventId),
    index('deliveries_stopped')
      .on(table.webhookId, table.stopped, table.eventId)
      .where(sql`stopped is not null`),
  ],
);

/**
 * What has to be sent, and the wake-up of its lane's poller: one row for each `pendente` delivery. `due_at` is `-infinity` for what is due
 * at once, else the time of its next attempt; the record finds the row by this key. `tx` is the transaction that made it due, which pollers
 * follow (poll_lanes.sql); null where its own poller postponed it. `number` is the delivery's `attempts`.
 * The index by `tx` is partial, so that no plan uses it for anything but following, whatever the statistics.
 */
export const pending = pgTable(
  'pending',
  {
    dueAt: preciseInstant('due_at')
      .notNull()
      .default(sql`'-infinity'`),
    tx: xid8('tx').default(sql`pg_current_xact_id()`),
    number: integer('number').notNull().default(0),
    webhookId: uuid('webhook_id').notNull(),
    deliveryId: uuid('delivery_id').notNull(),
    eventId: uuid('event_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    isTest: boolean('is_test'),
  },
  (table) => [
    primaryKey({ columns: [table.webhookId, table.dueAt, table.deliveryId] }),
    index('pending_by_tx')
      .on(table.tx)
      .where(sql`tx is not null`),
  ],
);

/**
 * What a poller is about to send, written by the claiming transaction: a row per claim, with its deliveries and numbers of attempts. Every
 * claim of the poller below `done_below` is recorded.
 */
export const claims = pgTable(
  'claims',
  {
    at: preciseInstant('at').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    doneBelow: bigint('done_below', { mode: 'number' }).notNull(),
    poller: text('poller').notNull(),
    ids: uuid('ids').array().notNull(),
    numbers: integer('numbers').array().notNull(),
  },
  (table) => [index('claims_of').on(table.poller, table.number)],
);

/**
 * Pollers that keep lanes: last sign of life on the database's clock, number of lanes, and whether each holds the lock under its name. One
 * without it, behind a pooler, is not dead for that.
 */
export const keepers = pgTable('keepers', {
  name: text('name').primaryKey(),
  seenAt: preciseInstant('seen_at').notNull().default(CLOCK),
  lanes: integer('lanes').notNull().default(0),
  hasLock: boolean('has_lock').notNull().default(false),
});

/**
 * One row per webhook, made by a trigger: its keeping poller (`keeper`, null: none), its cap of deliveries in flight (`max_in_flight`, set
 * by the operator) and the window that its answers have led to (`window_size`, as last handed back). `changed`: its keeper must read it
 * again before claiming more. Claims and records do not write here.
 * `in_order`: each loan's deliveries one at a time, by version. Until `resumes_until` its suspended deliveries hold back later ones of
 * their loans. While muted (`muted_at`) nothing is sent. Since `failing_since` it is `falhando`: one delivery at a time
 * (delivery/queue/maintenance/failing). `resting`, as its keeper has set it: a poll takes nothing new of it unless it names it.
 * Measured alternative: one queue by due time. With one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were claimed in
 * 25 s; with lanes all were, at 30 ms (p99).
 */
export const lanes = pgTable(
  'lanes',
  {
    webhookId: uuid('webhook_id').primaryKey(),
    partnerId: uuid('partner_id').notNull(),
    keeper: text('keeper'),
    changed: boolean('changed').notNull().default(false),
    maxInFlight: integer('max_in_flight').notNull().default(64),
    windowSize: real('window_size').notNull().default(8),
    mutedAt: instant('muted_at'),
    failingSince: preciseInstant('failing_since'),
    inOrder: boolean('in_order').notNull().default(false),
    resumesUntil: preciseInstant('resumes_until'),
    resting: boolean('resting').notNull().default(false),
  },
  (table) => [
    // An expression, so that no claim uses it in place of the key.
    index('lanes_kept').on(sql`coalesce(keeper, '')`),
    index('lanes_changed')
      .on(table.keeper)
      .where(sql`changed`),
    // Few of many: what operators list.
    index('lanes_stopped')
      .on(table.webhookId)
      .where(sql`muted_at is not null or failing_since is not null`),
    check('lanes_max_in_flight', sql`max_in_flight between 1 and 1000`),
    check('lanes_window_size', sql`window_size >= 1`),
  ],
);
