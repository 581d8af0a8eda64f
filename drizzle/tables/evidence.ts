/** The evidence: attempts, orders to send, and the log of seals over them. */
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
import { ANCHOR_KINDS, OUTCOMES, SEND_ORDERS } from '../../src/contract/statuses.ts';
import { bytea, CLOCK, commitment, epoch, instant, ownTx, place, salt, virtual } from './columns.ts';
import { oneOf, sealable, sealed } from './constraints.ts';
import { OF_WEBHOOK } from './partners.ts';

/** As `poller_of`, which a computed column cannot call. */
const pollerOfClaim = virtual<string>('text', "left(claim, length(claim) - strpos(reverse(claim), '/'))");

/** One row for every POST that may have left, append-only. `late`: the report of a poller that lost its lease. */
export const attempts = pgTable(
  'attempts',
  {
    startedAt: instant('started_at').notNull(),
    recordedAt: instant('recorded_at').notNull().defaultNow(),
    tx: ownTx(),
    number: integer('number').notNull(),
    durationMs: integer('duration_ms'),
    /** The row of `targets` with `url`, `address` and `key_id`, which are then null. */
    target: integer('target'),
    statusCode: smallint('status_code'),
    epoch: epoch(),
    late: boolean('late').notNull().default(false),
    deliveryId: uuid('delivery_id').notNull(),
    /** The delivery's; `audit verify` reports an attempt without one. */
    eventId: uuid('event_id'),
    webhookId: uuid('webhook_id').notNull(),
    partnerId: uuid('partner_id').notNull(),
    outcome: text('outcome', { enum: OUTCOMES }).notNull(),
    url: text('url'),
    address: text('address'),
    keyId: text('key_id'),
    /** The claim: its poller's name and a number, `poller-1/12`; `poller-1/2.12` in the second term of its lock. */
    claim: text('claim').notNull(),
    poller: pollerOfClaim('poller'),
    error: text('error'),
    /** Header fields, an empty line, the beginning of the body (delivery/sending/answer). */
    answer: text('answer'),
    /** SHA-256 of the event's salt and the body as sent; null for a lost attempt. */
    bodyDigest: bytea('body_digest'),
    salt: salt(),
    commitment: commitment(),
  },
  (table) => [
    primaryKey({ name: 'attempts_pkey', columns: [table.deliveryId, table.number, table.late] }),
    // What each costs a recorded attempt, of 4.2 µs for the bare insert: 1.0, 0.8, 0.3 µs; the failures' none.
    index('attempts_by_partner').on(table.partnerId, table.recordedAt),
    index('attempts_in_time').on(table.recordedAt),
    sealable('attempts'),
    // An infinite time cannot be part of a proof.
    check('attempts_time', sql`isfinite(started_at)`),
    index('attempts_erased')
      .on(table.eventId)
      .where(sql`salt is null`),
    index('attempts_failed')
      .on(table.outcome, table.recordedAt)
      .where(sql`outcome <> 'entregue'`),
  ],
);

/**
 * Where attempts went, append-only and shared by attempts (delivery/queue/targets). A leaf has the texts, so a changed row here shows as a
 * change of each attempt that names it. Alternative: the URL of the webhook's history at the claim; address and key are the attempt's
 * own, so the row would stay for these two.
 */
export const targets = pgTable(
  'targets',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    url: text('url').notNull(),
    address: text('address').notNull(),
    keyId: text('key_id').notNull(),
  },
  (table) => [unique('targets_once').on(table.url, table.address, table.keyId)],
);

/** Who had which deliveries sent again, or stopped, append-only; a request for many has a row per batch. */
export const sendOrders = pgTable(
  'send_orders',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    kind: text('kind', { enum: SEND_ORDERS }).notNull(),
    webhookId: uuid('webhook_id').notNull().references(OF_WEBHOOK),
    partnerId: uuid('partner_id').notNull(),
    deliveryIds: uuid('delivery_ids').array().notNull(),
    actor: text('actor').notNull(),
    /** In the operator's words; partners give none. */
    reason: text('reason'),
    requestId: uuid('request_id'),
    orderedAt: instant('ordered_at').notNull().defaultNow(),
    ...place(),
  },
  (table) => [
    index('send_orders_by_webhook').on(table.webhookId, table.position),
    // Finds the orders of one delivery. Without a pending list, which every read would scan.
    index('send_orders_by_delivery').using('gin', table.deliveryIds).with({ fastupdate: false }),
    index('send_orders_in_time').on(table.orderedAt, table.position),
    ...sealed('send_orders'),
    check('send_orders_kind', oneOf('kind', SEND_ORDERS)),
    check('send_orders_deliveries', sql`cardinality(delivery_ids) >= 1`),
  ],
);

/**
 * The log of seals, append-only: each covers all rows whose (epoch, tx) lie from (`first_epoch`, `first_tx`) to before (`end_epoch`,
 * `end_tx`), where the next begins (audit/seals/seal.ts). `root` is that of the tree of its rows, `leaf` the seal's own in the log's tree.
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
    root: bytea('root').notNull(),
    /** Digest of what erasing would leave of its events (audit/seals/remains.ts); null without events. */
    remains: bytea('remains'),
    sealedAt: instant('sealed_at').notNull(),
    leaf: bytea('leaf').notNull(),
  },
  (table) => [
    unique('seals_in_order').on(table.firstEpoch, table.firstTx),
    check('seals_number', sql`number >= 1`),
    check('seals_time', sql`isfinite(sealed_at)`),
    check('seals_span', sql`(first_epoch, first_tx) < (end_epoch, end_tx) and rows > 0`),
    check('seals_digests', sql`octet_length(root) = 32 and octet_length(leaf) = 32`),
  ],
);

/**
 * The tree of each seal's rows, so that proofs read no rows: the leaves in order, and the root of each 256 of them. Trusted only when its
 * root is the seal's.
 */
export const sealTrees = pgTable('seal_trees', {
  number: bigint('number', { mode: 'number' }).primaryKey(),
  leaves: bytea('leaves').notNull(),
  nodes: bytea('nodes').notNull(),
});

/** The log's tree above its leaves: the root of each full 256 to the power of `level` seals. */
export const sealNodes = pgTable(
  'seal_nodes',
  {
    level: smallint('level').notNull(),
    index: bigint('index', { mode: 'number' }).notNull(),
    hash: bytea('hash').notNull(),
  },
  (table) => [
    primaryKey({ name: 'seal_nodes_pkey', columns: [table.level, table.index] }),
    check('seal_nodes_hash', sql`level >= 1 and octet_length(hash) = 32`),
  ],
);

/** Signed heads of the log (C2SP tlog-checkpoint); `size` counts seals. */
export const checkpoints = pgTable(
  'checkpoints',
  {
    size: bigint('size', { mode: 'number' }).primaryKey(),
    root: bytea('root').notNull(),
    note: text('note').notNull(),
    signedAt: instant('signed_at').notNull().default(CLOCK),
  },
  (table) => [index('checkpoints_signed_at').on(table.signedAt)],
);

/**
 * External places for checkpoints (audit/anchor): a row for each that `audit anchor` knew, with the newest checkpoint it has. `error` is of
 * the last run, null after success. `active`: still configured.
 */
export const anchors = pgTable(
  'anchors',
  {
    kind: text('kind', { enum: ANCHOR_KINDS }).notNull(),
    place: text('place').notNull(),
    active: boolean('active').notNull(),
    size: bigint('size', { mode: 'number' }).notNull().default(0),
    anchoredAt: instant('anchored_at'),
    error: text('error'),
    knownAt: instant('known_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'anchors_pkey', columns: [table.kind, table.place] }),
    check('anchors_kind', oneOf('kind', ANCHOR_KINDS)),
  ],
);

/** The receipts of these places, append-only. Each verifies by itself, so no seal covers them. */
export const anchorReceipts = pgTable(
  'anchor_receipts',
  {
    size: bigint('size', { mode: 'number' })
      .notNull()
      .references(() => checkpoints.size),
    kind: text('kind', { enum: ANCHOR_KINDS }).notNull(),
    place: text('place').notNull(),
    receipt: bytea('receipt').notNull(),
    anchoredAt: instant('anchored_at').notNull().default(CLOCK),
  },
  (table) => [
    primaryKey({ name: 'anchor_receipts_pkey', columns: [table.kind, table.place, table.size] }),
    check('anchor_receipts_kind', oneOf('kind', ANCHOR_KINDS)),
  ],
);
