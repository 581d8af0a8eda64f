/** The append-only log and the envelopes made from it. */
import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, json, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { API_FAMILIES } from '../../contract/delivery.ts';
import { EVENT_TYPES } from '../../contract/events.ts';
import { bytea, epoch, instant, pgSnapshot, xid8 } from '../columns.ts';
import { sealable } from '../constraints.ts';

/**
 * The append-only log. `data` is json, not jsonb: the envelope's bytes keep its key order.
 *
 * No CHECK and no foreign key: only `append_event` may write here, and it holds each row to the catalog and to an active
 * partner. A statement that writes reads all CHECKs of its table anew from text, and the key locked the partner's row;
 * the two took a seventh of an append.
 */
export const events = pgTable(
  'events',
  {
    position: bigint('position', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    id: uuid('id')
      .notNull()
      .default(sql`uuidv7()`),
    stream: uuid('stream').notNull(),
    version: integer('version').notNull(),
    type: text('type', { enum: EVENT_TYPES as [string, ...string[]] }).notNull(),
    family: text('family', { enum: API_FAMILIES }).notNull().default('backoffice'),
    partnerId: uuid('partner_id').notNull(),
    data: json('data').notNull(),
    occurredAt: instant('occurred_at').notNull(),
    actor: text('actor').notNull(),
    requestId: uuid('request_id'),
    epoch: epoch(),
    tx: xid8('tx')
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (table) => [
    primaryKey({ name: 'events_pkey', columns: [table.stream, table.version] }),
    unique('events_id').on(table.id),
    index('events_in_order').on(table.partnerId, table.epoch, table.tx, table.position),
    sealable('events'),
    index('events_by_day').using('brin', table.occurredAt).with({ autosummarize: true }),
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
    kind: text('kind', { enum: ['emitted', 'internal', 'reserved'] }).notNull(),
    families: text('families').array().notNull(),
    payload: json('payload'),
    keys: text('keys').array().notNull(),
    kinds: text('kinds').array().notNull(),
    formats: text('formats').array().notNull(),
  },
  () => [check('event_types_kind', sql`kind in ('emitted', 'internal', 'reserved')`)],
);

/** One envelope an emitted event: the exact bytes that every attempt of every delivery sends. */
export const messages = pgTable('messages', {
  eventId: uuid('event_id').primaryKey(),
  partnerId: uuid('partner_id').notNull(),
  type: text('type').notNull(),
  body: bytea('body').notNull(),
  fanOut: integer('fan_out').notNull(),
  /** The loan's version at the event; null for an event that is not of a loan's stream. */
  loanVersion: integer('loan_version'),
  snapshot: pgSnapshot('snapshot').notNull(),
});
