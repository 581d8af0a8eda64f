/** The append-only log and the envelopes made from it. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { API_FAMILIES } from '../../src/contract/delivery.ts';
import { EVENT_TYPES } from '../../src/contract/events.ts';
import { commitment, epoch, instant, ownTx, pgSnapshot, preciseInstant, salt, virtual, xid8 } from './columns.ts';
import { sealable } from './constraints.ts';

/** Who was alone saw all transactions below its own, and no other. Text, because drizzle quotes what is behind a type that it does not know. */
const SNAPSHOT = "case when fan_out is not null then coalesce(seen::text, tx::text || ':' || tx::text || ':') end";

/**
 * The append-only log. `data` is json, not jsonb: the envelope's bytes keep its key order.
 *
 * What is sent for an event is made of its row, by `envelope`, each time that it is asked for (the view `messages`): the
 * same columns of a row that nobody may change give the same bytes. Kept beside the event they took 370 B and two index
 * entries more. A test delivery has a row here too, of the type `webhook.teste`, which is not in the catalog.
 *
 * No CHECK and no foreign key: only `append_event` may write here, and it holds each row to the catalog and to an active
 * partner. A statement that writes reads all CHECKs of its table anew from text, and the key locked the partner's row;
 * the two took a seventh of an append.
 */
export const events = pgTable(
  'events',
  {
    position: bigint('position', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    tx: ownTx(),
    occurredAt: instant('occurred_at').notNull(),
    version: integer('version').notNull(),
    /** How many deliveries the append made; null for an internal fact, which no partner is sent. */
    fanOut: smallint('fan_out'),
    /** The version that the catalog's entry of this type had when it was appended; null for a test, which is not in the catalog. */
    catalogVersion: smallint('catalog_version'),
    epoch: epoch(),
    /** It happened before the lender came to Carteiro (`append_history`): nobody was or will be sent it. */
    imported: boolean('imported').notNull().default(false),
    /** Whether it is an event of a loan's stream that partners are sent; null: no. */
    isOfLoan: boolean('is_of_loan'),
    id: uuid('id')
      .notNull()
      .default(sql`uuidv7()`),
    stream: uuid('stream').notNull(),
    partnerId: uuid('partner_id').notNull(),
    type: text('type', { enum: EVENT_TYPES as [string, ...string[]] }).notNull(),
    /** Null: `backoffice`, as nearly always. */
    otherFamily: text('other_family', { enum: API_FAMILIES }),
    data: json('data').notNull(),
    actor: text('actor').notNull(),
    requestId: text('request_id'),
    /** What the append could see where other transactions were open beside it (`seen_beside_others`); else null. */
    seen: pgSnapshot('seen'),
    /** W3C trace context of what caused the event; each delivery carries it on. Null: none, or one that is no trace context. */
    traceparent: text('traceparent'),
    salt: salt(),
    commitment: commitment(),
    /** The loan's version at the event; null for an event that is not of a loan's stream. */
    loanVersion: virtual<number>('integer', 'case when is_of_loan then version end')('loan_version'),
    family: virtual<string>('text', "coalesce(other_family, 'backoffice')")('family'),
    /** What the append could see, so that history can tell which webhooks it had to deliver to; null as `fan_out`. */
    snapshot: virtual<string>('text', SNAPSHOT)('snapshot'),
  },
  (table) => [
    primaryKey({ name: 'events_pkey', columns: [table.stream, table.version] }),
    unique('events_id').on(table.id),
    // Two orders in one index: readers of the feed do not walk over what was imported. It knows transactions, not positions, which
    // took 13 B more: who walks it takes a transaction's events whole (WITH TIES), and then sorts.
    index('events_in_order').on(table.partnerId, table.imported, table.epoch, table.tx),
    sealable('events'),
    // Few or none: held against the orders to erase, and asked of each resend.
    index('events_erased')
      .on(table.id)
      .where(sql`salt is null`),
    // History comes with times of its own, loan by loan: in this index each of its pages would stand for all days.
    index('events_by_day')
      .using('brin', table.occurredAt)
      .with({ autosummarize: true })
      .where(sql`not imported`),
    index('events_imported_by_day')
      .on(table.occurredAt, table.partnerId)
      .where(sql`imported`),
  ],
);

/**
 * The catalog, which `migrate` fills from the event table in contract/ (event-catalog.ts): what `append_event` takes, and
 * what a webhook may subscribe to.
 */
export const eventTypes = pgTable(
  'event_types',
  {
    name: text('name').primaryKey(),
    kind: text('kind', { enum: ['emitted', 'internal', 'notice', 'reserved'] }).notNull(),
    families: text('families').array().notNull(),
    payload: json('payload'),
    keys: text('keys').array().notNull(),
    kinds: text('kinds').array().notNull(),
    formats: text('formats').array().notNull(),
    optional: text('optional').array().notNull(),
    least: integer('least').notNull(),
    /** 1 at first, and 1 more whenever `migrate` changes the entry. */
    version: integer('version').notNull().default(1),
  },
  () => [check('event_types_kind', sql`kind in ('emitted', 'internal', 'notice', 'reserved')`)],
);

/** A transaction in which history came in, and the highest position of its events: the log has imported events up to there. */
export const historyBatches = pgTable(
  'history_batches',
  {
    epoch: epoch(),
    tx: ownTx(),
    position: bigint('position', { mode: 'number' }).notNull(),
  },
  (table) => [index('history_batches_in_order').on(table.epoch, table.tx)],
);

/**
 * How far a reader of the log has come that keeps something beside it true: `loans` is the projector's (src/core/projection/projector.ts).
 * All events up to (epoch, tx, position) are in; so are all of transactions that had begun to write before `passed_at`. `mark_at` is the next
 * such instant: it is passed when every transaction below `mark_tx` is over.
 */
export const projections = pgTable('projections', {
  name: text('name').primaryKey(),
  epoch: smallint('epoch').notNull().default(0),
  tx: xid8('tx').notNull(),
  position: bigint('position', { mode: 'number' }).notNull(),
  passedAt: preciseInstant('passed_at'),
  markEpoch: smallint('mark_epoch'),
  markTx: xid8('mark_tx'),
  markAt: preciseInstant('mark_at'),
});
