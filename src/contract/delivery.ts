/** The headers and the envelope of deliveries. */
import { z } from 'zod';
import { NOTICE_NAMES, SUBSCRIBABLE_NAMES } from './events.ts';
import { id, timestamp } from './values.ts';

export const HEADER_EVENT = 'X-Webhook-Event';
export const HEADER_DELIVERY = 'X-Webhook-Delivery';
export const HEADER_SIGNATURE = 'X-Webhook-Signature';
/** Beside `X-Webhook-Signature`, by the old secret, for {@link PREVIOUS_SECRET_H} hours from when a rotation's new secret signs. */
export const HEADER_PREVIOUS_SIGNATURE = 'X-Webhook-Signature-Previous';
/** The loan's version at the event; absent where there is no loan. */
export const HEADER_LOAN_VERSION = 'X-Webhook-Loan-Version';
/** `1` in a test that the partner asked for; absent otherwise. */
export const HEADER_TEST = 'X-Webhook-Test';
/** The newest checkpoint of the log: origin, size, root, signature. */
export const HEADER_CHECKPOINT = 'X-Carteiro-Checkpoint';
/** `Carteiro/<version>`. */
export const HEADER_USER_AGENT = 'User-Agent';
/** Standard Webhooks (standardwebhooks.com): these headers sign the time too, so a receiver can refuse a replay. */
export const HEADER_STANDARD_ID = 'webhook-id';
export const HEADER_STANDARD_TIMESTAMP = 'webhook-timestamp';
export const HEADER_STANDARD_SIGNATURE = 'webhook-signature';

/** Hours for which the old secret still signs beside the new one, unless the partner ends it sooner. */
export const PREVIOUS_SECRET_H = 24;

/** The test delivery that a partner asks for. Its attempt is logged; it is not an event of the catalog. */
export const TEST_NAME = 'webhook.teste';

/**
 * The data of a test, as JSON. A receiver that verifies JSON written again, not the raw body, must fail here: escapes, the slash,
 * 1.10 and the order of keys are what parsers and writers of Node, Python and PHP change.
 */
export const testData = (webhookId: string) =>
  `${JSON.stringify({ webhook_id: webhookId, mensagem: 'Entrega de teste, pedida pelo parceiro' }).slice(0, -1)},${CANARY}}`;
const CANARY =
  '"canario":{"texto":"São João / \\u00e9 \\u2028 \u2028","decimal":1.10,"b":1,"2":true,"1":false,"instrucao":"Confira a assinatura sobre os bytes recebidos"}';

/** Events of the log that are not of the credit flow: no projection and no expectation of the core looks at them. */
export const NOT_FACTS: readonly string[] = [TEST_NAME, ...NOTICE_NAMES];

/** The envelope of the back-office API; the auction API's has no `parceiro_id`. Keys in this order. */
export const envelope = z.strictObject({
  evento: z.enum(SUBSCRIBABLE_NAMES),
  timestamp,
  parceiro_id: id.optional(),
  data: z.record(z.string(), z.unknown()),
});

export const API_FAMILIES = ['backoffice', 'leilao'] as const;
export type ApiFamily = (typeof API_FAMILIES)[number];

/** More of an answer's body is not read. */
export const MAX_READ_BYTES = 8_192;

/** The engine's durations, in seconds. Each process that claims asks {@link timesFault} at its start whether they work together. */
export const TIMES_S = {
  /** From the start of an attempt to its status line. */
  response: 30,
  /** From there until the outcome is written down. */
  record: 1,
  /** How long a claim is its poller's. What counts is the database's, which `migrate` makes of this (lease.sql). */
  lease: 45,
  /** What a statement of a poller may take; after that the database is out of reach. */
  statement: 4,
  /** After this time without its lock a poller is dead to the others. */
  deadAfter: 1,
  /** How often a poller shows that it has its lock. */
  heartbeat: 0.3,
  /** How long a process that is told to stop waits for what is under way. */
  drain: 40,
} as const;

/** Why no delivery could be sent, or none safely, with these durations; null when they work together. */
export function timesFault(times: Readonly<Record<keyof typeof TIMES_S, number>>): string | null {
  const { response, record, lease, statement, deadAfter, heartbeat, drain } = times;
  const attempt = response + record;
  if (lease <= attempt + statement) {
    return (
      `a lease of ${lease} s is too short: a claim is answered within ${statement} s and an attempt recorded within ` +
      `${attempt} s, so each delivery would be given back unsent; it must be longer than ${attempt + statement} s`
    );
  }
  if (drain <= attempt + statement) return `a drain of ${drain} s ends before an attempt of ${attempt} s is recorded`;
  if (deadAfter <= 2 * heartbeat)
    return `a poller that beats every ${heartbeat} s would be dead to others after ${deadAfter} s`;
  return null;
}
