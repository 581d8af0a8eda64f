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

/** A transaction without others beside it saw all below its own. As text, because drizzle quotes what follows a type unknown to it. */
const SNAPSHOT = "case when fan_out is not null then coalesce(seen::text, tx::text || ':' || tx::text || ':') end";

/**
 * The append-only log. `data` is json, not jsonb: the envelope's bytes keep its key order.
 * `envelope` makes what is sent from the event's row each time (view `messages`); immutable columns give the same bytes. Stored, they took
 * 370 B and two index entries more. A test delivery has a row here too, of type `webhook.teste`, which is not in the catalog.
 * No CHECK and no foreign key: only `append_event` writes here, and checks each row against the catalog and an active partner. A writing
 * statement parses its table's CHECKs anew, and the foreign key locked the partner's row; together a seventh of an append.
 */
export const events = pgTable(
  'events',
  {
    position: bigint('position', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    tx: ownTx(),
    occurredAt: instant('occurred_at').notNull(),
    version: integer('version').notNull(),
    /** Deliveries made by the append; null for an internal fact, which no partner gets. */
    fanOut: smallint('fan_out'),
    /** The catalog entry's version at the append; null for a test. */
    catalogVersion: smallint('catalog_version'),
    epoch: epoch(),
    /** It happened before the lender came to Carteiro (`append_history`) and is never sent. */
    imported: boolean('imported').notNull().default(false),
    /** An event of a loan's stream that partners get; null: no. */
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
    /** The append's snapshot where other transactions were open beside it (`seen_beside_others`); else null. */
    seen: pgSnapshot('seen'),
    /** W3C trace context of the cause, carried by each delivery. Null: none or invalid. */
    traceparent: text('traceparent'),
    salt: salt(),
    commitment: commitment(),
    /** The loan's version at the event; null outside a loan's stream. */
    loanVersion: virtual<number>('integer', 'case when is_of_loan then version end')('loan_version'),
    family: virtual<string>('text', "coalesce(other_family, 'backoffice')")('family'),
    /** What the append could see, so that history can tell which webhooks it had to deliver to; null as `fan_out`. */
    snapshot: virtual<string>('text', SNAPSHOT)('snapshot'),
  },
  (table) => [
    primaryKey({ name: 'events_pkey', columns: [table.stream, table.version] }),
    unique('events_id').on(table.id),
    // Two orders in one index: the feed's readers skip imported events. Without positions, which took 13 B more: readers take a
    // transaction's events whole (WITH TIES) and sort.
    index('events_in_order').on(table.partnerId, table.imported, table.epoch, table.tx),
    sealable('events'),
    // Few or none: checked against erasure orders and before each resend.
    index('events_erased')
      .on(table.id)
      .where(sql`salt is null`),
    // History comes loan by loan with old times: in this index each page of it would cover all days.
    index('events_by_day')
      .using('brin', table.occurredAt)
      .with({ autosummarize: true })
      .where(sql`not imported`),
    index('events_imported_by_day')
      .on(table.occurredAt, table.partnerId)
      .where(sql`imported`),
  ],
);

/** The catalog, filled by `migrate` from contract/ (event-catalog.ts): what `append_event` accepts and webhooks subscribe to. */
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
    /** Starts at 1 and grows with each change of the entry by `migrate`. */
    version: integer('version').notNull().default(1),
  },
  () => [check('event_types_kind', sql`kind in ('emitted', 'internal', 'notice', 'reserved')`)],
);

/** A transaction with imported events, and the highest position among them. */
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
 * The progress of a reader of the log; `loans` is the projector's (src/core/projection/projector.ts). Included are all events up to (epoch,
 * tx, position), and all of transactions that had begun to write before `passed_at`. `mark_at` is the next such instant, reached when every
 * transaction below `mark_tx` is over.
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
