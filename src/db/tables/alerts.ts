/** What a partner's people are told by e-mail or chat (webhooks/alerts.ts): where to, and each message until it was taken. */
import { sql } from 'drizzle-orm';
import { check, index, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { ALERT_CHANNELS, ALERT_KINDS } from '../../contract/statuses.ts';
import { instant, preciseInstant } from '../columns.ts';
import { oneOf } from '../constraints.ts';
import { OF_PARTNER } from './partners.ts';

/** One row of a partner that ever chose; `slack_url` takes Slack's `{"text": …}`. */
export const alertAddresses = pgTable('alert_addresses', {
  partnerId: uuid('partner_id').primaryKey().references(OF_PARTNER),
  email: text('email'),
  slackUrl: text('slack_url'),
  setAt: instant('set_at').notNull(),
});

/** `subject` is a webhook; of a test, the partner. `due_at`: when it is tried next; null: it was taken, or given up. */
export const alerts = pgTable(
  'alerts',
  {
    subject: uuid('subject').notNull(),
    kind: text('kind', { enum: ALERT_KINDS }).notNull(),
    happenedAt: preciseInstant('happened_at').notNull(),
    channel: text('channel', { enum: ALERT_CHANNELS }).notNull(),
    partnerId: uuid('partner_id').notNull(),
    attempts: smallint('attempts').notNull().default(0),
    dueAt: preciseInstant('due_at').default(sql`now()`),
    sentAt: instant('sent_at'),
    error: text('error'),
    createdAt: preciseInstant('created_at')
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ name: 'alerts_pkey', columns: [table.subject, table.kind, table.happenedAt, table.channel] }),
    index('alerts_due')
      .on(table.dueAt)
      .where(sql`due_at is not null`),
    index('alerts_by_partner').on(table.partnerId, table.createdAt),
    check('alerts_kind', oneOf('kind', ALERT_KINDS)),
    check('alerts_channel', oneOf('channel', ALERT_CHANNELS)),
  ],
);
