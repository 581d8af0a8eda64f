/** The POST of one delivery: the stored bytes, the three headers, signed with the registration's secret. */
import { HEADER_DELIVERY, HEADER_EVENT, HEADER_SIGNATURE } from '../contract/delivery.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { SendRequest } from './send.ts';
import { sign } from './signature.ts';

/** Opens a registration's sealed secret; throws when it cannot. `keyId` names the sealing key. */
export type OpenSecret = (webhookId: string, sealed: Buffer) => { readonly secret: string; readonly keyId: string };

export interface SignedRequest {
  readonly request: SendRequest;
  readonly keyId: string;
}

/** Builds what an attempt sends (contract, "Delivery headers"). Throws only for a fault of ours. */
export function signRequest(delivery: ClaimedDelivery, openSecret: OpenSecret): SignedRequest {
  const { secret, keyId } = openSecret(delivery.webhookId, delivery.sealedSecret);
  return {
    keyId,
    request: {
      url: delivery.url,
      body: delivery.body,
      headers: {
        'Content-Type': 'application/json',
        [HEADER_EVENT]: delivery.event,
        [HEADER_DELIVERY]: delivery.id,
        [HEADER_SIGNATURE]: sign(secret, delivery.body),
      },
    },
  };
}
