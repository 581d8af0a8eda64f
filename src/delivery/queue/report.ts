/** A poller's report of one attempt. */
import type { SpanContext } from '@opentelemetry/api';
import type { SendResult } from '../sending/send.ts';

export interface Report {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly partnerId: string;
  readonly number: number;
  /** The claim under which it was sent. */
  readonly claim: string;
  /** Its number among its poller's. */
  readonly claimNumber: number;
  /** When the delivery was due, as its row of `pending` is found; null: at once. */
  readonly dueAt: string | null;
  readonly url: string;
  /** SHA-256 of the event's salt and the body as it was sent, in hexadecimal digits. */
  readonly bodyDigest: string;
  /** Which encryption key the secret was opened with. */
  readonly keyId: string;
  /** Milliseconds of a monotonic clock when the attempt started. */
  readonly startedAtMs: number;
  /** On the database's clock, in milliseconds since 1970: by then the attempt had started. */
  readonly startedByMs: number;
  readonly result: SendResult;
  /** The attempt's span; absent where nobody records any. */
  readonly span?: SpanContext | undefined;
}
