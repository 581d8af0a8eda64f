/** What crosses the wire with each delivery (contract, "Delivery headers", "Delivery envelope", "Limits"). */
import { z } from 'zod';
import { EMITTED_NAMES } from './events.ts';
import { id, timestamp } from './values.ts';

export const HEADER_EVENT = 'X-Webhook-Event';
export const HEADER_DELIVERY = 'X-Webhook-Delivery';
export const HEADER_SIGNATURE = 'X-Webhook-Signature';
/**
 * Beside the contract's three: the same format by the secret before a rotation, for {@link PREVIOUS_SECRET_H} hours from when
 * the new one signs.
 */
export const HEADER_PREVIOUS_SIGNATURE = 'X-Webhook-Signature-Previous';
/** The loan's version at the event; absent where there is no loan. */
export const HEADER_LOAN_VERSION = 'X-Webhook-Loan-Version';
/** `Carteiro/<version>`: common firewalls refuse requests without it. */
export const HEADER_USER_AGENT = 'User-Agent';
/** Standard Webhooks (standardwebhooks.com): what a signature of the body alone cannot bring, protection against replay. */
export const HEADER_STANDARD_ID = 'webhook-id';
export const HEADER_STANDARD_TIMESTAMP = 'webhook-timestamp';
export const HEADER_STANDARD_SIGNATURE = 'webhook-signature';

/** How long the secret before a rotation still signs beside the new one, unless the partner ends it sooner. */
export const PREVIOUS_SECRET_H = 24;

/** The delivery that a partner asks for to try a registration out; it has a row in the log, and is no event of the catalog. */
export const TEST_NAME = 'webhook.teste';

/** The envelope of the back-office API; the auction API's has no `parceiro_id`. Keys in this order. */
export const envelope = z.strictObject({
  evento: z.enum(EMITTED_NAMES),
  timestamp,
  parceiro_id: id.optional(),
  data: z.record(z.string(), z.unknown()),
});

/** The two API families that deliver webhooks. */
export const API_FAMILIES = ['backoffice', 'leilao'] as const;
export type ApiFamily = (typeof API_FAMILIES)[number];

/** Seconds from the start of an attempt to its status line. */
export const RESPONSE_TIMEOUT_S = 30;

/** Seconds between the end of a failed attempt and the next: 1 min, 5 min, 15 min, 1 h, 6 h. */
export const RETRY_DELAYS_S = [60, 300, 900, 3_600, 21_600] as const;
