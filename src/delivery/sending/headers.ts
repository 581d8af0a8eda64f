/** The headers of one delivery's POST, in sending order. */
import {
  HEADER_DELIVERY,
  HEADER_EVENT,
  HEADER_LOAN_VERSION,
  HEADER_PREVIOUS_SIGNATURE,
  HEADER_SIGNATURE,
  HEADER_STANDARD_ID,
  HEADER_STANDARD_SIGNATURE,
  HEADER_STANDARD_TIMESTAMP,
  HEADER_TEST,
  HEADER_USER_AGENT,
} from '../../contract/delivery.ts';
import { VERSION } from '../../version.ts';
import { sign, signStandard, type SigningKey } from './signature.ts';

const USER_AGENT = `Carteiro/${VERSION}`;

export interface Addressed {
  /** The delivery's id, the same in every attempt. */
  readonly id: string;
  readonly event: string;
  readonly body: Buffer;
  /** The loan's at the event; null without a loan. */
  readonly loanVersion: number | null;
  /** A delivery that the partner asked for to try its receiver. */
  readonly isTest: boolean;
}

/** Names and values alternating, signed by `key` and, during a rotation, `previous`, for an attempt that starts at `at`. */
export function deliveryHeaders(
  { id, event, body, loanVersion, isTest }: Addressed,
  key: SigningKey,
  previous: SigningKey | null,
  at: Date,
): string[] {
  const timestamp = Math.floor(at.getTime() / 1_000);
  const keys = previous === null ? [key] : [key, previous];
  // A list: an object took 3.9 µs, not 3.2.
  const headers = [
    'Content-Type',
    'application/json',
    // Common firewalls refuse requests without these two (ModSecurity's CRS at paranoia 2).
    'Accept',
    '*/*',
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
  if (isTest) headers.push(HEADER_TEST, '1');
  return headers;
}
