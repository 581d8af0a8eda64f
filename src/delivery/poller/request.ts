/**
 * The POST of one delivery: the event's bytes, and the headers that name and sign them.
 * During a rotation both secrets sign: the new one the contract's header, the previous one `X-Webhook-Signature-Previous`, and both the
 * standard header. So a receiver may switch at any moment. A new secret that is not in force yet signs nothing: the claim brings the
 * previous one alone. A previous secret that cannot be opened is left out.
 */
import { hash } from 'node:crypto';
import { HEADER_CHECKPOINT } from '../../contract/delivery.ts';
import { NO_DIGEST } from '../../contract/erasure.ts';
import type { ClaimedDelivery } from '../queue/claim.ts';
import { deliveryHeaders } from '../sending/headers.ts';
import type { SendRequest } from '../sending/send.ts';
import type { Openers } from '../sending/openers.ts';

const NO_SALT = Buffer.alloc(0);

export interface SignedRequest {
  readonly request: SendRequest;
  /** The encryption key of the secret that signs the contract's header. */
  readonly keyId: string;
  /** SHA-256 of the event's salt and the body, hex; {@link NO_DIGEST} where the event lost its salt with a CPF. */
  readonly bodyDigest: string;
}

/** {@link SignedRequest.bodyDigest}. Text costs half of a buffer, which would become text to be recorded. */
export function bodyDigestOf({ salt, body }: Pick<ClaimedDelivery, 'salt' | 'body'>): string {
  return salt?.length === 0 ? NO_DIGEST : hash('sha256', Buffer.concat([salt ?? NO_SALT, body]), 'hex');
}

/**
 * Builds what an attempt that starts at `at` sends. `traceparent` is unsigned; `checkpoint` has its own signature. Throws only for a fault
 * of ours.
 */
export function signRequest(
  delivery: Omit<ClaimedDelivery, 'dueAt'>,
  { openKey, previousKey, credentialsOf }: Openers,
  at: Date,
  traceparent: string | null = delivery.traceparent,
  checkpoint?: string | null,
): SignedRequest {
  const { webhookId, body, url, encryptedSecret, previousEncryptedSecret, encryptedCredentials } = delivery;
  const { key, keyId } = openKey(webhookId, encryptedSecret);
  const headers = deliveryHeaders(delivery, key, previousKey(webhookId, previousEncryptedSecret), at);
  if (traceparent !== null) headers.push('traceparent', traceparent);
  if (typeof checkpoint === 'string') headers.push(HEADER_CHECKPOINT, checkpoint);
  return {
    keyId,
    bodyDigest: bodyDigestOf(delivery),
    request:
      encryptedCredentials === null
        ? { url, body, headers }
        : { url, body, headers, credentials: credentialsOf(webhookId, encryptedCredentials) },
  };
}
