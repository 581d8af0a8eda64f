/** What crosses the wire with each delivery (contract, "Delivery headers", "Delivery envelope", "Limits"). */
import { z } from 'zod';
import { EMITTED_NAMES } from './events.ts';
import { id, timestamp } from './values.ts';

export const HEADER_EVENT = 'X-Webhook-Event';
export const HEADER_DELIVERY = 'X-Webhook-Delivery';
export const HEADER_SIGNATURE = 'X-Webhook-Signature';

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
