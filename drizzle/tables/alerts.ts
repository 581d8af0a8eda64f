/** E-mail and chat alerts to a partner's people (webhooks/alerts.ts): the addresses, and each message until it was accepted. */
import { sql } from 'drizzle-orm';
import { check, index, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { ALERT_CHANNELS, ALERT_KINDS } from '../../src/contract/statuses.ts';
import { preciseInstant } from './columns.ts';
import { oneOf } from './constraints.ts';
import { OF_PARTNER } from './partners.ts';

/**
 * An e-mail address, or a URL for Slack's `{"text": …}`. Until `confirmed_at` it gets only `code`, which confirms it; `wrong_codes` bounds
 * guesses. A trigger writes the partner's history (keep_alert_history.sql).
 */
export const alertAddresses = pgTable(
  'alert_addresses',
  {
    partnerId: uuid('partner_id').notNull().references(OF_PARTNER),
    channel: text('channel', { enum: ALERT_CHANNELS }).notNull(),
    address: text('address').notNull(),
    setAt: preciseInstant('set_at').notNull(),
    confirmedAt: preciseInstant('confirmed_at'),
    code: text('code'),
    wrongCodes: smallint('wrong_codes').notNull().default(0),
  },
  (table) => [
    primaryKey({ name: 'alert_addresses_pkey', columns: [table.partnerId, table.channel] }),
    check('alert_addresses_code', sql`(confirmed_at is null) = (code is not null)`),
  ],
);

/**
 * `subject` is a webhook; of `teste`, `confirmacao`, and `mudanca` of the addresses, the partner. `address` null: the partner's confirmed
 * one. `due_at`: the next try; null: accepted or given up.
 */
export const alerts = pgTable(
  'alerts',
  {
    subject: uuid('subject').notNull(),
    kind: text('kind', { enum: ALERT_KINDS }).notNull(),
    happenedAt: preciseInstant('happened_at').notNull(),
    channel: text('channel', { enum: ALERT_CHANNELS }).notNull(),
    partnerId: uuid('partner_id').notNull(),
    address: text('address'),
    attempts: smallint('attempts').notNull().default(0),
    dueAt: preciseInstant('due_at').default(sql`now()`),
    sentAt: preciseInstant('sent_at'),
    error: text('error'),
    createdAt: preciseInstant('created_at')
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ name: 'alerts_pkey', columns: [table.subject, table.kind, table.happenedAt, table.channel] }),
    // Less tried messages go first, so hanging addresses delay no other.
    index('alerts_due')
      .on(table.channel, table.attempts, table.dueAt)
      .where(sql`due_at is not null`),
    index('alerts_by_partner').on(table.partnerId, table.createdAt),
    check('alerts_kind', oneOf('kind', ALERT_KINDS)),
    check('alerts_channel', oneOf('channel', ALERT_CHANNELS)),
  ],
);

/** Until when the certificates of a receiver's chain are valid, as pollers last saw (webhooks/certificates.ts). */
export const receiverCertificates = pgTable('receiver_certificates', {
  /** Scheme, host and port. */
  origin: text('origin').primaryKey(),
  validUntil: preciseInstant('valid_until').notNull(),
  seenAt: preciseInstant('seen_at').notNull(),
});
