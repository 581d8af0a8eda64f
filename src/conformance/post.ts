/** The POSTs of a conformance run: an event's example under an unused id, signed as a check requires. Pure except for ids. */
import { randomUUID } from 'node:crypto';
import { HEADER_PREVIOUS_SIGNATURE, HEADER_SIGNATURE, HEADER_STANDARD_SIGNATURE } from '../contract/delivery.ts';
import { EVENT_EXAMPLES } from '../contract/event-examples.ts';
import type { SubscribableName } from '../contract/events.ts';
import { deliveryHeaders } from '../delivery/sending/headers.ts';
import type { SigningKey } from '../delivery/sending/signature.ts';

export interface Post {
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer;
}

export interface Kit {
  readonly partnerId: string;
  readonly event: SubscribableName;
  /** What signs the contract's header, and during a rotation the secret before. */
  readonly key: SigningKey;
  readonly previous: SigningKey | null;
  /** Made with an unknown secret. */
  readonly strange: SigningKey;
  readonly now: () => Date;
}

/** A delivery's id of 1970: the service makes those of the present. */
const impossibleId = () => `00000000-0000-7000-8000-${randomUUID().slice(-12)}`;

/** An event's example in the contract's envelope, with `changes` to its data. */
export function exampleOf(kit: Kit, event: SubscribableName = kit.event, changes: object = {}) {
  return { event, body: envelopeOf(kit, event, { ...EVENT_EXAMPLES[event], ...changes }) };
}

export function envelopeOf({ partnerId, now }: Kit, event: string, data: object): string {
  return JSON.stringify({ evento: event, timestamp: now().toISOString(), parceiro_id: partnerId, data });
}

interface Sent {
  readonly event: string;
  readonly body: string;
  readonly id?: string;
  readonly loanVersion?: number;
}

interface Signing {
  /** The keys that sign, the contract's header's first. */
  readonly keys?: readonly [SigningKey, SigningKey | null];
  /** The text that is signed in place of the body. */
  readonly over?: string;
  readonly at?: Date;
}

/** A POST as a delivery's, or signed otherwise. */
export function postOf(kit: Kit, { event, body, id = impossibleId(), loanVersion }: Sent, signing: Signing = {}): Post {
  const { keys = [kit.key, kit.previous], over = body, at = kit.now() } = signing;
  const addressed = { id, event, body: Buffer.from(over), loanVersion: loanVersion ?? null, isTest: true };
  return { headers: deliveryHeaders(addressed, ...keys, at), body: Buffer.from(body) };
}

type Change = (signature: string) => string | null;

/** The same POST with each of its signatures changed; of null the header is left out. */
export function withSignatures({ headers, body }: Post, contract: Change, standard: Change = contract): Post {
  const changes: Readonly<Record<string, Change>> = {
    [HEADER_SIGNATURE]: contract,
    [HEADER_PREVIOUS_SIGNATURE]: contract,
    [HEADER_STANDARD_SIGNATURE]: (list) => {
      const changed = list.split(' ').map(standard);
      return changed.includes(null) ? null : changed.join(' ');
    },
  };
  const kept = headers.flatMap((name, index) => {
    if (index % 2 === 1) return [];
    const value = (changes[name] ?? String)(headers[index + 1] ?? '');
    return value === null ? [] : [name, value];
  });
  return { headers: kept, body };
}
