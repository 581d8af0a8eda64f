/** Erased workers: who ordered it, what it covers, how far it is; where a CPF occurs; and who read CPFs. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { bytea, instant, place } from './columns.ts';
import { sealed } from './constraints.ts';

/** One order to erase a worker, append-only and sealed. It never names the worker; its pages name the events. */
export const erasureOrders = pgTable(
  'erasure_orders',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    id: uuid('id')
      .notNull()
      .default(sql`uuidv7()`),
    /** The number of a court's order, which overrides open loans and legal periods. */
    courtOrder: text('court_order'),
    actor: text('actor').notNull(),
    reason: text('reason').notNull(),
    /** How many events it covers, and on how many pages. */
    events: integer('events').notNull(),
    pages: integer('pages').notNull(),
    orderedAt: instant('ordered_at').notNull().defaultNow(),
    ...place(),
  },
  (table) => [unique('erasure_orders_id').on(table.id), ...sealed('erasure_orders')],
);
const OF_ORDER = () => erasureOrders.id;

/**
 * An order's events, append-only and sealed, written in the order's transaction. `remains` has the SHA-256 of each event's remaining data,
 * so nobody can change these later. An attempt is erased with its event.
 */
export const erasurePages = pgTable(
  'erasure_pages',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    orderId: uuid('order_id').notNull().references(OF_ORDER),
    number: integer('number').notNull(),
    eventIds: uuid('event_ids').array().notNull(),
    remains: bytea('remains').array().notNull(),
    ...place(),
  },
  (table) => [
    unique('erasure_pages_once').on(table.orderId, table.number),
    ...sealed('erasure_pages'),
    // Without `between`, which a dump nests otherwise.
    check(
      'erasure_pages_events',
      sql`cardinality(event_ids) >= 1 and cardinality(event_ids) <= 50 and cardinality(remains) = cardinality(event_ids)`,
    ),
  ],
);

/** The progress of an order. The CPF stands here until it is done, and nowhere afterwards. */
export const erasures = pgTable(
  'erasures',
  {
    orderId: uuid('order_id').primaryKey().references(OF_ORDER),
    cpf: text('cpf'),
    nextPage: integer('next_page').notNull().default(1),
    doneAt: instant('done_at'),
    /** Its texts are in no month's file whose act stands at or before this. */
    lookedTo: bigint('looked_to', { mode: 'number' }),
  },
  () => [check('erasures_done', sql`(cpf is null) = (done_at is not null)`)],
);

/**
 * Events in which a CPF occurs, by keyed digest: useless without the key. `is_own`: the worker is the event's subject, not named in a text
 * of another's.
 */
export const workerEvents = pgTable(
  'worker_events',
  {
    eventId: uuid('event_id').notNull(),
    digest: bytea('digest').notNull(),
    stream: uuid('stream').notNull(),
    isOwn: boolean('is_own').notNull(),
  },
  (table) => [
    primaryKey({ name: 'worker_events_pkey', columns: [table.eventId, table.digest] }),
    index('worker_events_by_digest').on(table.digest),
  ],
);

/** Who read unmasked CPFs, append-only and sealed. */
export const cpfReads = pgTable(
  'cpf_reads',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    actor: text('actor').notNull(),
    /** The route's method and path, or the command. */
    operation: text('operation').notNull(),
    /** The filters, period or id asked for; never a CPF. */
    asked: text('asked').notNull(),
    requestId: uuid('request_id'),
    /** Events named in the answer; null for a file, which only `asked` describes. */
    events: uuid('events').array(),
    readAt: instant('read_at').notNull().defaultNow(),
    ...place(),
  },
  () => [...sealed('cpf_reads')],
);
