/**
 * The POST of one delivery: the stored bytes and the headers that name and sign them.
 *
 * While a rotation is fresh both secrets sign: the contract's header by the new one, `X-Webhook-Signature-Previous` by
 * the one before, and the standard header by both, so that a receiver may change its secret at any moment of that time.
 * A new secret that waits for its time signs nothing: the claim brings the one before, alone.
 */
import {
  HEADER_DELIVERY,
  HEADER_EVENT,
  HEADER_LOAN_VERSION,
  HEADER_PREVIOUS_SIGNATURE,
  HEADER_SIGNATURE,
  HEADER_STANDARD_ID,
  HEADER_STANDARD_SIGNATURE,
  HEADER_STANDARD_TIMESTAMP,
  HEADER_USER_AGENT,
} from '../contract/delivery.ts';
import { VERSION } from '../version.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { SendRequest } from './send.ts';
import { sign, signStandard } from './signature.ts';
import type { OpenKey } from './signing-keys.ts';

const USER_AGENT = `Carteiro/${VERSION}`;

export interface SignedRequest {
  readonly request: SendRequest;
  /** The sealing key of the secret that signs the contract's header. */
  readonly keyId: string;
}

/** Builds what an attempt that starts at `at` sends (contract, "Delivery headers"). Throws only for a fault of ours. */
export function signRequest(delivery: ClaimedDelivery, openKey: OpenKey, at: Date): SignedRequest {
  const { id, webhookId, event, body, url, loanVersion, sealedSecret, previousSealedSecret } = delivery;
  const { key, keyId } = openKey(webhookId, sealedSecret);
  const previous = previousSealedSecret === null ? null : openKey(webhookId, previousSealedSecret).key;
  const keys = previous === null ? [key] : [key, previous];
  const timestamp = Math.floor(at.getTime() / 1_000);
  // A list: as an object it took a fifth longer to make and to check (3.9 µs, not 3.2).
  const headers = [
    'Content-Type',
    'application/json',
    HEADER_USER_AGENT,
    USER_AGENT,
    HEADER_EVENT,
    event,
    HEADER_DELIVERY,
    id,
    HEADER_SIGNATURE,
    sign(key, body),
    HEADER_STANDARD_ID,
    id,
    HEADER_STANDARD_TIMESTAMP,
    String(timestamp),
    HEADER_STANDARD_SIGNATURE,
    keys.map((each) => signStandard(each, id, timestamp, body)).join(' '),
  ];
  if (previous !== null) headers.push(HEADER_PREVIOUS_SIGNATURE, sign(previous, body));
  if (loanVersion !== null) headers.push(HEADER_LOAN_VERSION, String(loanVersion));
  return {
    keyId,
    request: { url, body, headers },
  };
}
