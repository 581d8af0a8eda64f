/**
 * The outbox and its lanes.
 *
 * The hot tables (`events`, `deliveries`, `pending`, `lanes`, `attempts`) carry no foreign key to `webhooks` or
 * `partners`: each check would lock the parent's row in share mode, and all writers of one partner would queue on it.
 * Their rows are made by `insert … select` from those very tables, which no role may delete from.
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

/** When the event was appended, and with it the delivery. */
const timeOfEvent = virtual<Date>('timestamp (3) with time zone', 'uuid_extract_timestamp(event_id)');

/**
 * What a row may hold is one CHECK each of `deliveries` and `attempts`, which a function answers (drizzle/functions,
 * `is_sound_delivery` and `is_sound_attempt`): a statement that writes reads the CHECKs of its table anew from text, and
 * nine of them took two thirds of inserting one delivery.
 *
 * Columns of `events`, `deliveries` and `attempts` stand by their width, the widest first, so that none is padded: 8 to 16 B a row.
 *
 * The outbox: one row per event and webhook. While it is `pendente`, `next_attempt_at` is when it is or was due, and `pending` has a row
 * of it. `attempts` counts the attempts that have ended (the number of the latest), `failures` the spent slots of the schedule,
 * `lost_in_row` the attempts lost one after the other since the last outcome, null if there is none: as 0 it took a row 8 B, of 128.
 * `is_test`, or null: a test that its partner asked for. It is tried once.
 * A claim does not write here, and the record's update is heap-only: no index knows of what it changes. `stopped` is null on
 * the way from `pendente` to `entregue`.
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
    // The webhook first: in the order of its UUIDv7 events it is also each webhook's list by time.
    unique('deliveries_once').on(table.webhookId, table.eventId),
    index('deliveries_stopped')
      .on(table.webhookId, table.stopped, table.eventId)
      .where(sql`stopped is not null`),
  ],
);

/**
 * What has to be sent, and the wake-up of the poller that keeps its lane: one row for each delivery that is `pendente`.
 * `due_at` is `-infinity` for what is to be sent at once, and else the time of its next attempt; so one key serves both, and is how
 * the record finds a row. `tx` is the transaction that made it due: pollers follow by it (drizzle/functions/take_turn.sql). It is null
 * where its own poller put it off, and knows. `number` is the delivery's `attempts`.
 * The index by `tx` is partial, so that no plan takes it for anything but following: of a queue that was empty when it was analyzed
 * the planner knows no better.
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
 * What a poller is about to send, written in the transaction that claims it: one row a claim, with its deliveries, their webhooks and
 * the numbers of their attempts. Every claim of the poller below `done_below` is recorded.
 */
export const claims = pgTable(
  'claims',
  {
    at: preciseInstant('at').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    doneBelow: bigint('done_below', { mode: 'number' }).notNull(),
    poller: text('poller').notNull(),
    hooks: uuid('hooks').array().notNull(),
    ids: uuid('ids').array().notNull(),
    numbers: integer('numbers').array().notNull(),
  },
  (table) => [index('claims_of').on(table.poller, table.number)],
);

/**
 * The pollers that keep lanes: when each was last alive, on the database's clock, how many lanes it keeps, and whether it holds the lock under
 * its name: one that does not, behind a pooler, is not dead for want of it.
 */
export const keepers = pgTable('keepers', {
  name: text('name').primaryKey(),
  seenAt: preciseInstant('seen_at').notNull().default(CLOCK),
  lanes: integer('lanes').notNull().default(0),
  hasLock: boolean('has_lock').notNull().default(false),
});

/**
 * One row per webhook, made with it by a trigger: which poller keeps it (`keeper`, null: none), and how many of its deliveries may be in
 * flight: `max_in_flight`, which only the operator sets, or fewer, as its answers have it: `window_size`, as of the last time that a poller
 * handed it back. `changed`: whoever keeps it must read it again before it claims more. No claim and no record writes here.
 * `in_order`: of each loan one delivery at a time, by version, as the partner chose. Until `resumes_until` its suspended deliveries are being
 * resumed, and hold back later ones of their loans. While an operator has muted the webhook (`muted_at`) nothing of it is sent.
 * Since `failing_since` it is `falhando`: one delivery at a time probes it (delivery/queue/upkeep/failing).
 * Why not one queue by due time: with one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were
 * claimed in 25 s; with lanes all were, at 30 ms (p99).
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
  },
  (table) => [
    // An expression, so that no claim takes it in place of the key.
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
