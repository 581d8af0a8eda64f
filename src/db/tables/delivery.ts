/**
 * The outbox, its lanes, and the log of every attempt.
 *
 * The hot tables (`events`, `deliveries`, `arrivals`, `lanes`, `attempts`) carry no foreign key to `webhooks` or
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
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { DELIVERY_STATUSES, OUTCOMES, SEND_ORDERS } from '../../contract/statuses.ts';
import { bytea, computedText, epoch, instant, preciseInstant, xid8 } from '../columns.ts';
import { oneOf, sealable } from '../constraints.ts';
import { webhooks } from './partners.ts';

/**
 * What a row may hold is one CHECK each of `deliveries` and `attempts`, which a function answers (drizzle/functions,
 * `is_sound_delivery` and `is_sound_attempt`): a statement that writes reads the CHECKs of its table anew from text, and
 * nine of them took two thirds of inserting one delivery.
 *
 * The outbox: one row per event and registration. While it is `pendente`, `next_attempt_at` is when it is or was due;
 * a claim leaves that alone and sets `claimed_by` and `claimed_at`, from which its lease counts. No index knows of those
 * two, so a claim is a heap-only update: with the end of the lease in `next_attempt_at` it wrote four index entries.
 * `attempts` counts claims (the number of the latest attempt), `failures` the spent slots of the schedule,
 * `lost_in_row` the attempts lost one after the other since the last outcome.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    id: uuid('id')
      .primaryKey()
      .default(sql`uuidv7()`),
    eventId: uuid('event_id').notNull(),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    status: text('status', { enum: DELIVERY_STATUSES }).notNull().default('pendente'),
    attempts: integer('attempts').notNull().default(0),
    failures: smallint('failures').notNull().default(0),
    lostInRow: smallint('lost_in_row').notNull().default(0),
    nextAttemptAt: preciseInstant('next_attempt_at'),
    claimedBy: text('claimed_by'),
    claimedAt: preciseInstant('claimed_at'),
    createdAt: instant('created_at')
      .notNull()
      .default(sql`now()`),
    finishedAt: instant('finished_at'),
  },
  (table) => [
    // The registration first: in the order of its UUIDv7 events it is also each registration's list by time.
    unique('deliveries_once').on(table.webhookId, table.eventId),
    index('deliveries_stopped')
      .on(table.webhookId, table.status, table.eventId)
      .where(sql`status in ('erro', 'suspensa')`),
    index('deliveries_due')
      .on(table.webhookId, table.nextAttemptAt)
      .where(sql`status = 'pendente'`),
  ],
);

/**
 * Insert-only wake rows: the core adds one for each webhook it gave work, and never touches a lane. `due_at` is at most
 * the time of what became due, `-infinity` where that is not known; null says only that places came free, and `silent`
 * (true, or null) that the webhook they were taken for has not answered. They are found by the transaction that made them
 * (delivery/arrivals).
 */
export const arrivals = pgTable(
  'arrivals',
  {
    webhookId: uuid('webhook_id').notNull(),
    dueAt: preciseInstant('due_at').default(sql`now()`),
    silent: boolean('silent'),
    tx: xid8('tx')
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (table) => [index('arrivals_by_tx').on(table.tx)],
);

/**
 * One row per webhook, made with it by a trigger: when to look at it next, and how many of its deliveries may be in
 * flight: `max_in_flight`, which only the operator sets, or fewer, as its answers have it (`window_size`; null: no fewer).
 * No pending delivery of it is due before `scan_from`, and none that is claimed is due after `flying_to` (null:
 * none is claimed).
 * `next_scan_from` is where `scan_from` goes with the next claim: what was delivered is passed once more when nobody can
 * see it any longer, and by that the index forgets it, without a vacuum.
 * `version` counts the changes, so that a look-up meets the newest first. There is no unique key: each change would visit
 * every version that a snapshot held open keeps, and a claim on 100 webhooks took six times as long after a minute. That
 * nobody but the trigger may insert makes a lane its webhook's only one.
 */
export const lanes = pgTable(
  'lanes',
  {
    webhookId: uuid('webhook_id').notNull(),
    version: bigint('version', { mode: 'number' }).notNull().default(0),
    nextDueAt: preciseInstant('next_due_at'),
    maxInFlight: integer('max_in_flight').notNull().default(8),
    windowSize: integer('window_size'),
    saturated: boolean('saturated').notNull().default(false),
    scanFrom: preciseInstant('scan_from')
      .notNull()
      .default(sql`'-infinity'`),
    nextScanFrom: preciseInstant('next_scan_from')
      .notNull()
      .default(sql`'-infinity'`),
    flyingTo: preciseInstant('flying_to'),
  },
  (table) => [
    index('lanes_newest').on(table.webhookId, table.version),
    index('lanes_due')
      .on(table.nextDueAt)
      .where(sql`next_due_at is not null`),
    check('lanes_max_in_flight', sql`max_in_flight between 1 and 1000`),
    check('lanes_window_size', sql`window_size >= 1`),
    check('lanes_saturated_wakes', sql`not saturated or next_due_at is not null`),
  ],
);

/** A claim's name without its number. */
const pollerOfClaim = computedText("left(claim, length(claim) - strpos(reverse(claim), '/'))");

/** One row for every POST that may have left, append-only. A `late` row is the report of a poller that lost its lease. */
export const attempts = pgTable(
  'attempts',
  {
    deliveryId: uuid('delivery_id').notNull(),
    number: integer('number').notNull(),
    late: boolean('late').notNull().default(false),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    outcome: text('outcome', { enum: OUTCOMES }).notNull(),
    statusCode: smallint('status_code'),
    startedAt: instant('started_at').notNull(),
    durationMs: integer('duration_ms'),
    url: text('url').notNull(),
    address: text('address'),
    keyId: text('key_id'),
    /** The claim that took the delivery: its poller's name and a number, `poller-1/12`. */
    claim: text('claim').notNull(),
    poller: pollerOfClaim('poller'),
    error: text('error'),
    answer: bytea('answer'),
    recordedAt: instant('recorded_at')
      .notNull()
      .default(sql`now()`),
    epoch: epoch(),
    tx: xid8('tx')
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (table) => [
    primaryKey({ name: 'attempts_pkey', columns: [table.deliveryId, table.number, table.late] }),
    // What each costs a recorded attempt, of 4.2 µs for the bare insert: 1.0, 0.8, 0.3 µs; the failures' none.
    index('attempts_by_partner').on(table.partnerId, table.recordedAt),
    index('attempts_in_time').on(table.recordedAt),
    sealable('attempts'),
    index('attempts_failed')
      .on(table.outcome, table.recordedAt)
      .where(sql`outcome <> 'entregue'`),
  ],
);

/** Who had which deliveries sent (again), append-only; many at once are a row for each batch of the request. */
export const sendOrders = pgTable(
  'send_orders',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    kind: text('kind', { enum: SEND_ORDERS }).notNull(),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id),
    partnerId: uuid('partner_id').notNull(),
    deliveryIds: uuid('delivery_ids').array().notNull(),
    actor: text('actor').notNull(),
    requestId: uuid('request_id'),
    orderedAt: instant('ordered_at')
      .notNull()
      .default(sql`now()`),
    epoch: epoch(),
    tx: xid8('tx')
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (table) => [
    index('send_orders_by_webhook').on(table.webhookId, table.position),
    sealable('send_orders'),
    check('send_orders_kind', oneOf('kind', SEND_ORDERS)),
    check('send_orders_deliveries', sql`cardinality(delivery_ids) >= 1`),
  ],
);

/**
 * The chain of seals, append-only: each covers every row of the logs (`sealable_rows`) whose epoch and transaction
 * lie from (`first_epoch`, `first_tx`) to before (`end_epoch`, `end_tx`), where the next begins (audit/seal).
 */
export const seals = pgTable(
  'seals',
  {
    number: bigint('number', { mode: 'number' }).primaryKey(),
    firstEpoch: smallint('first_epoch').notNull(),
    firstTx: bigint('first_tx', { mode: 'number' }).notNull(),
    endEpoch: smallint('end_epoch').notNull(),
    endTx: bigint('end_tx', { mode: 'number' }).notNull(),
    rows: integer('rows').notNull(),
    digest: bytea('digest').notNull(),
    previous: bytea('previous').notNull(),
    hash: bytea('hash').notNull(),
    sealedAt: instant('sealed_at').notNull(),
  },
  (table) => [
    unique('seals_in_order').on(table.firstEpoch, table.firstTx),
    check('seals_number', sql`number >= 1`),
    check('seals_span', sql`(first_epoch, first_tx) < (end_epoch, end_tx) and rows > 0`),
    check('seals_digests', sql`octet_length(digest) = 32 and octet_length(previous) = 32 and octet_length(hash) = 32`),
  ],
);
