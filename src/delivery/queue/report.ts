import type { SpanContext } from '@opentelemetry/api';
import type { SendResult } from '../sending/send.ts';

export interface Report {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly partnerId: string;
  readonly number: number;
  readonly claim: string;
  /** Its number among its poller's. */
  readonly claimNumber: number;
  /** When the delivery was due (null: at once); part of the key of its row of `pending`. */
  readonly dueAt: string | null;
  readonly url: string;
  /** SHA-256 of the event's salt and the body as sent, hex. */
  readonly bodyDigest: string;
  /** The encryption key that opened the secret. */
  readonly keyId: string;
  /** Monotonic, in ms. */
  readonly startedAtMs: number;
  /** On the database's clock, ms since 1970: the attempt had started by then. */
  readonly startedByMs: number;
  readonly result: SendResult;
  readonly span?: SpanContext | undefined;
}
