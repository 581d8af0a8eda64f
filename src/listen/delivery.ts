/** What is forwarded: one event of the feed as one delivery. */
import type { FedEvent } from './feed-api.ts';

export interface Forwarded {
  /** `X-Webhook-Delivery`, the same in every attempt and every run. */
  readonly id: string;
  readonly event: string;
  readonly body: Buffer;
  readonly loanVersion: number | null;
}

/**
 * The delivery of `fed` to the machine that listens. Its id is that of the delivery to `webhookId`, where there is one, so
 * that the receiver recognises what it was sent already. Any other event has no delivery of its own here: its id is the
 * event's, as unique and as lasting.
 */
export function deliveryOf(fed: FedEvent, webhookId: string | null): Forwarded {
  const own = fed.deliveries.find((delivery) => delivery.webhookId === webhookId);
  return {
    id: own?.id ?? fed.eventId,
    event: fed.event,
    body: Buffer.from(JSON.stringify(fed.envelope)),
    loanVersion: fed.loanVersion,
  };
}
