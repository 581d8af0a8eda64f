import type { ClaimedDelivery } from '../../src/delivery/queue/claim.ts';
import type { Report } from '../../src/delivery/queue/report.ts';
import type { SendResult } from '../../src/delivery/sending/send.ts';

/** The sender's result for a POST that was answered with 200. */
export const DELIVERED: SendResult = {
  outcome: 'entregue',
  statusCode: 200,
  durationMs: 1,
  address: null,
  error: null,
  answer: null,
};

/** What a poller reports of a delivery that it claimed. */
export function reportFor(delivery: ClaimedDelivery, claim: string, result: SendResult): Report {
  const { id: deliveryId, webhookId, partnerId, number, url, dueAt } = delivery;
  const times = { startedAtMs: 0, startedByMs: Number.MAX_SAFE_INTEGER };
  return {
    deliveryId,
    webhookId,
    partnerId,
    number,
    claim,
    claimNumber: Number(claim.split(/[/.]/).at(-1)),
    dueAt,
    url,
    keyId: 'test',
    bodyDigest: '0'.repeat(64),
    ...times,
    result,
  };
}
