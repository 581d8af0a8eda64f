/** Partners and webhooks, with their histories. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, pgTable, text, uuid, integer } from 'drizzle-orm/pg-core';
import {
  DOCUMENT_MODES,
  ISSUANCE_MODES,
  PARTNER_CHANGES,
  SIGNING_MODES,
  WEBHOOK_CHANGES,
} from '../../src/contract/statuses.ts';
import { bytea, CLOCK, instant, ownId, preciseInstant, place } from './columns.ts';
import { oneOf, sealed } from './constraints.ts';

export const partners = pgTable(
  'partners',
  {
    id: ownId(),
    name: text('name').notNull(),
    active: boolean('active').notNull().default(true),
    signing: text('signing', { enum: SIGNING_MODES }).notNull().default('internal'),
    documents: text('documents', { enum: DOCUMENT_MODES }).notNull().default('agrupada'),
    issuance: text('issuance', { enum: ISSUANCE_MODES }).notNull().default('sincrona'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  () => [
    check('partners_signing', oneOf('signing', SIGNING_MODES)),
    check('partners_documents', oneOf('documents', DOCUMENT_MODES)),
    check('partners_issuance', oneOf('issuance', ISSUANCE_MODES)),
  ],
);
export const OF_PARTNER = () => partners.id;

/**
 * Every state of a partner's account, append-only: its creation writes the first line, a trigger all others
 * (keep_partner_history.sql).
 */
export const partnerHistory = pgTable(
  'partner_history',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    partnerId: uuid('partner_id').notNull().references(OF_PARTNER),
    name: text('name').notNull(),
    active: boolean('active').notNull(),
    signing: text('signing', { enum: SIGNING_MODES }).notNull(),
    documents: text('documents', { enum: DOCUMENT_MODES }).notNull(),
    issuance: text('issuance', { enum: ISSUANCE_MODES }).notNull(),
    change: text('change', { enum: PARTNER_CHANGES }).notNull(),
    actor: text('actor').notNull(),
    /** In the operator's words. */
    reason: text('reason'),
    changedAt: instant('changed_at').notNull().default(CLOCK),
    ...place(),
  },
  (table) => [
    index('partner_history_by_partner').on(table.partnerId, table.position),
    index('partner_history_in_time').on(table.changedAt, table.position),
    ...sealed('partner_history'),
    check('partner_history_change', oneOf('change', PARTNER_CHANGES)),
  ],
);

/** `encrypted_secret`: key id, iv, tag and ciphertext (webhooks/secrets). */
export const webhooks = pgTable(
  'webhooks',
  {
    id: uuid('id').primaryKey(),
    partnerId: uuid('partner_id').notNull().references(OF_PARTNER),
    url: text('url').notNull(),
    events: text('events').array().notNull(),
    encryptedSecret: bytea('encrypted_secret').notNull(),
    /** Until then the previous secret signs alone; null: `encrypted_secret` signs. */
    signsFrom: preciseInstant('signs_from'),
    /** The secret before the last rotation; it signs too until `previous_until`. */
    previousEncryptedSecret: bytea('previous_encrypted_secret'),
    previousUntil: preciseInstant('previous_until'),
    /** The receiver's credentials (credentials.ts), encrypted as the secrets are; null: none. */
    encryptedCredentials: bytea('encrypted_credentials'),
    /** The end of their client certificate. */
    certificateUntil: preciseInstant('certificate_until'),
    /** Attempts since its URL was set, none answered 2xx; null: one was. */
    refusals: integer('refusals'),
    /** Nothing leaves before that, until one was. */
    quietUntil: preciseInstant('quiet_until'),
    active: boolean('active').notNull().default(true),
    label: text('label'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('webhooks_active_by_partner')
      .on(table.partnerId, table.id)
      .where(sql`active`),
    // Includes deactivated ones: the feed and the auditors ask what was sent to them.
    index('webhooks_by_partner').on(table.partnerId, table.id),
    index('webhooks_by_certificate')
      .on(table.certificateUntil)
      .where(sql`certificate_until is not null`),
    check('webhooks_signs_from', sql`signs_from is null or coalesce(signs_from < previous_until, false)`),
    check('webhooks_previous', sql`(previous_encrypted_secret is null) = (previous_until is null)`),
  ],
);
export const OF_WEBHOOK = () => webhooks.id;

/**
 * Every state of a webhook, append-only. With `events.snapshot` it tells which webhooks each append could see, which proves the deliveries.
 */
export const webhookHistory = pgTable(
  'webhook_history',
  {
    position: bigint('position', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    webhookId: uuid('webhook_id').notNull().references(OF_WEBHOOK),
    partnerId: uuid('partner_id').notNull(),
    url: text('url').notNull(),
    events: text('events').array().notNull(),
    active: boolean('active').notNull(),
    /** A secret is never stored here. */
    change: text('change', { enum: WEBHOOK_CHANGES }).notNull().default('criacao'),
    actor: text('actor').notNull(),
    /** In the operator's words; partners give none. */
    reason: text('reason'),
    requestId: uuid('request_id'),
    changedAt: instant('changed_at').notNull().defaultNow(),
    /** When a secret made in advance begins to sign; null: with the change. */
    takesEffectAt: instant('takes_effect_at'),
    ...place(),
  },
  (table) => [
    index('webhook_history_by_webhook').on(table.webhookId, table.position),
    index('webhook_history_in_time').on(table.changedAt, table.position),
    ...sealed('webhook_history'),
    check('webhook_history_times', sql`isfinite(changed_at) and isfinite(takes_effect_at) is not false`),
    check('webhook_history_change', oneOf('change', WEBHOOK_CHANGES)),
  ],
);
