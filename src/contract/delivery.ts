/** The headers and the envelope of deliveries (contract, "Delivery headers", "Delivery envelope", "Limits"). */
import { z } from 'zod';
import { NOTICE_NAMES, SUBSCRIBABLE_NAMES } from './events.ts';
import { id, timestamp } from './values.ts';

export const HEADER_EVENT = 'X-Webhook-Event';
export const HEADER_DELIVERY = 'X-Webhook-Delivery';
export const HEADER_SIGNATURE = 'X-Webhook-Signature';
/**
 * Beside the contract's three headers: a signature in the same format by the old secret, for {@link PREVIOUS_SECRET_H} hours
 * from the time when a rotation's new secret signs.
 */
export const HEADER_PREVIOUS_SIGNATURE = 'X-Webhook-Signature-Previous';
/** The loan's version at the event; absent where there is no loan. */
export const HEADER_LOAN_VERSION = 'X-Webhook-Loan-Version';
/** `1` in a test that the partner asked for; absent otherwise. */
export const HEADER_TEST = 'X-Webhook-Test';
/** `Carteiro/<version>`: common firewalls refuse requests without it. */
export const HEADER_USER_AGENT = 'User-Agent';
/** Standard Webhooks (standardwebhooks.com): these headers sign the time too, so a receiver can refuse a replay. */
export const HEADER_STANDARD_ID = 'webhook-id';
export const HEADER_STANDARD_TIMESTAMP = 'webhook-timestamp';
export const HEADER_STANDARD_SIGNATURE = 'webhook-signature';

/** Hours for which the old secret still signs beside the new one, unless the partner ends it sooner. */
export const PREVIOUS_SECRET_H = 24;

/** The test delivery that a partner asks for. Its attempt is logged; it is not an event of the catalog. */
export const TEST_NAME = 'webhook.teste';

/** Events of the log that are not of the credit flow: no projection and no expectation of the core looks at them. */
export const NOT_FACTS: readonly string[] = [TEST_NAME, ...NOTICE_NAMES];

/** The envelope of the back-office API; the auction API's has no `parceiro_id`. Keys in this order. */
export const envelope = z.strictObject({
  evento: z.enum(SUBSCRIBABLE_NAMES),
  timestamp,
  parceiro_id: id.optional(),
  data: z.record(z.string(), z.unknown()),
});

/** The two API families that deliver webhooks. */
export const API_FAMILIES = ['backoffice', 'leilao'] as const;
export type ApiFamily = (typeof API_FAMILIES)[number];

/** Seconds from the start of an attempt to its status line. */
export const RESPONSE_TIMEOUT_S = 30;
