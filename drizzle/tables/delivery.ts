/**
 * The outbox and its lanes.
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
  pgEnum,
  pgTable,
  real,
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { DELIVERY_STATUSES } from '../../src/contract/statuses.ts';
import { instant, ownId, ownTx, preciseInstant, virtual } from './columns.ts';

/** When the event was appended, and with it the delivery. */
const timeOfEvent = virtual<Date>('timestamp (3) with time zone', 'uuid_extract_timestamp(event_id)');

/**
 * What a row may hold is one CHECK each of `deliveries` and `attempts`, which a function answers (drizzle/functions,
 * `is_sound_delivery` and `is_sound_attempt`): a statement that writes reads the CHECKs of its table anew from text, and
 * nine of them took two thirds of inserting one delivery.
 *
 * Columns of `events`, `deliveries` and `attempts` stand by their width, the widest first, so that none is padded: 8 to 16 B a row.
 *
 * The outbox: one row per event and webhook. While it is `pendente`, `next_attempt_at` is when it is or was due;
 * a claim leaves that alone and sets `claimed_by` and `claimed_at`, from which its lease counts. No index knows of those
 * two, so a claim is a heap-only update: with the end of the lease in `next_attempt_at` it wrote four index entries.
 * `attempts` counts claims (the number of the latest attempt), `failures` the spent slots of the schedule,
 * `lost_in_row` the attempts lost one after the other since the last outcome, null if there is none: as 0 it took a row 8 B, of 128.
 * Where a webhook gets its loans in order, a delivery that waits for another of its loan is due at `infinity`, and
 * `awaited` marks the one whose end makes it due (drizzle/functions/hold_back.sql); null costs a row nothing.
 * `is_test`, or null: a test that its partner asked for. It is tried once.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    nextAttemptAt: preciseInstant('next_attempt_at'),
    claimedAt: preciseInstant('claimed_at'),
    finishedAt: instant('finished_at'),
    attempts: integer('attempts').notNull().default(0),
    failures: smallint('failures').notNull().default(0),
    lostInRow: smallint('lost_in_row'),
    id: ownId(),
    eventId: uuid('event_id').notNull(),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    status: text('status', { enum: DELIVERY_STATUSES }).notNull().default('pendente'),
    claimedBy: text('claimed_by'),
    awaited: boolean('awaited'),
    isTest: boolean('is_test'),
    createdAt: timeOfEvent('created_at'),
  },
  (table) => [
    // The webhook first: in the order of its UUIDv7 events it is also each webhook's list by time.
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
 * What a wake row tells of its webhook.
 * `due`: something became due, at `due_at` or later.
 * `look`: anything may have changed, at any time; its lane looks at everything again.
 * `slot_free`: slots came free, after an answer; `slot_free_silent`: some of them after none. `good` of the answers came
 * well, in `good_ms` together, and `bad` said that it was too much (delivery/queue/answers).
 * An enum, because each append would read the CHECK of a text's words anew.
 */
export const arrivalKind = pgEnum('arrival_kind', ['due', 'look', 'slot_free', 'slot_free_silent']);

/**
 * Insert-only wake rows: the core adds one for each webhook it gave work, and never touches a lane. They are found by the
 * transaction that made them (delivery/queue/arrivals). One of kind `due` may name its delivery, due at `due_at`, whose first
 * attempt may then be claimed without a search (drizzle/functions/serve_arrivals.sql).
 */
export const arrivals = pgTable(
  'arrivals',
  {
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    tx: ownTx(),
    dueAt: preciseInstant('due_at'),
    kind: arrivalKind('kind').notNull(),
    good: integer('good'),
    bad: integer('bad'),
    goodMs: real('good_ms'),
    deliveryId: uuid('delivery_id'),
  },
  (table) => [
    index('arrivals_by_tx').on(table.tx),
    check('arrivals_due_at', sql`(kind = 'due') = (due_at is not null)`),
  ],
);

/**
 * One row per webhook, made with it by a trigger: when to look at it next, and how many of its deliveries may be in flight:
 * `max_in_flight`, which only the operator sets, or fewer, as its answers have it: `window_size`, rounded down. `in_flight` is
 * the last claim's count; with it and with `quick_to` to `best_ms` the window moves (drizzle/functions/next_window.sql).
 * `in_order`: of each loan one delivery at a time, by version, as the partner chose (drizzle/functions/hold_back.sql).
 * Until `resumes_until` its suspended deliveries are being resumed, and hold back later ones of their loans (null: they hold
 * back nobody).
 * While an operator has muted the webhook (`muted_at`) its lane is never due, so no claim looks at it.
 * Since `failing_since` it is `falhando`: one delivery at a time probes it (delivery/queue/upkeep/failing). This column is where
 * that state is.
 * No pending delivery of it is due before `scan_from`, and none that is claimed is due after `flying_to` (null:
 * none is claimed).
 * `next_scan_from` is where `scan_from` goes with the next claim: `scan_from` lags one claim behind, so each scan crosses
 * finished rows once more after they are dead to everyone. That scan sets the index's kill bit, and the entries are reused
 * without a vacuum.
 *
 * Invariants. A webhook with a pending delivery has a lane whose `next_due_at` is at most the time that delivery is due
 * (or, while deliveries of it are claimed, the earliest end of their leases), or an arrival that will set it so. Every
 * pending delivery is due at or after its lane's `scan_from`, or an arrival says from when on; every claimed one is due
 * at or before `flying_to`.
 * A crash keeps them, because each step is one statement or one transaction: (1) arming deletes an arrival and updates its
 * lane, or re-inserts it; (2) a claim takes deliveries and re-arms the lanes; (3) ending a claim early, or making a delivery
 * due earlier, inserts an arrival. (A lost claim keeps its lane due, unless the lane is saturated.)
 * Why not one queue by due time: with one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were
 * claimed in 25 s; with lanes all were, at 30 ms (p99). Skipping busy endpoints with `<> all (…)` costs 120 ms a claim
 * at a million rows, lanes 5 ms.
 * Why the marks: a delivered row leaves a dead index entry where each scan begins, and a lane leaves one at each time at which
 * it was due (due-mark.ts). While a snapshot is held open, vacuum cannot remove them. A lane has a version instead of a
 * unique key for the same reason. We measured the median claim on 100 lanes in a minute of such a snapshot: 22 → 141 ms with
 * the unique key and without the marks, 22 → 50 ms as it is.
 *
 * `version` counts the changes, so that a look-up meets the newest first. There is no unique key: each change would visit
 * every version that a snapshot held open keeps, and a claim on 100 webhooks took six times as long after a minute. That
 * nobody but the trigger may insert makes a lane its webhook's only one.
 */
export const lanes = pgTable(
  'lanes',
  {
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    version: bigint('version', { mode: 'number' }).notNull().default(0),
    nextDueAt: preciseInstant('next_due_at'),
    maxInFlight: integer('max_in_flight').notNull().default(64),
    inFlight: integer('in_flight').notNull().default(0),
    windowSize: real('window_size').notNull().default(8),
    quickTo: real('quick_to'),
    answers: real('answers').notNull().default(0),
    answersMs: real('answers_ms').notNull().default(0),
    bestMs: real('best_ms'),
    saturated: boolean('saturated').notNull().default(false),
    scanFrom: preciseInstant('scan_from')
      .notNull()
      .default(sql`'-infinity'`),
    nextScanFrom: preciseInstant('next_scan_from')
      .notNull()
      .default(sql`'-infinity'`),
    flyingTo: preciseInstant('flying_to'),
    mutedAt: instant('muted_at'),
    failingSince: preciseInstant('failing_since'),
    inOrder: boolean('in_order').notNull().default(false),
    resumesUntil: preciseInstant('resumes_until'),
  },
  (table) => [
    index('lanes_newest').on(table.webhookId, table.version),
    index('lanes_due')
      .on(table.nextDueAt)
      .where(sql`next_due_at is not null`),
    // Few of many: what operators list. A claim pays one test of this for each lane that it writes.
    index('lanes_stopped')
      .on(table.webhookId)
      .where(sql`muted_at is not null or failing_since is not null`),
    check('lanes_max_in_flight', sql`max_in_flight between 1 and 1000`),
    check('lanes_window_size', sql`window_size >= 1`),
    // One CHECK for both: each is read anew from text by every statement that writes.
    check(
      'lanes_saturated_wakes',
      sql`case when muted_at is null then not saturated or next_due_at is not null else not saturated and next_due_at is null end`,
    ),
  ],
);
