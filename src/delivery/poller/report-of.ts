import type { Attributes, Span } from '@opentelemetry/api';
import type { ClaimedDelivery } from '../queue/claim.ts';
import type { Report } from '../queue/report.ts';
import type { SendResult } from '../sending/send.ts';
import type { Claim } from './claimer.ts';

export type Sent = Pick<Report, 'keyId' | 'bodyDigest' | 'startedAtMs' | 'result'> & { readonly span: Span };

export function makeReport(claim: Claim, delivery: ClaimedDelivery, sent: Sent): Report {
  const { id: deliveryId, webhookId, partnerId, number, url, claimedAt, dueAt } = delivery;
  const { keyId, bodyDigest, startedAtMs, result } = sent;
  const startedByMs = claimedAt.getTime() + startedAtMs - claim.startedAtMs;
  const span = claim.span === undefined ? undefined : sent.span.spanContext();
  return {
    deliveryId,
    webhookId,
    partnerId,
    number,
    claim: claim.name,
    claimNumber: claim.number,
    dueAt,
    url,
    bodyDigest,
    keyId,
    startedAtMs,
    startedByMs,
    // The event lost a CPF: its answers are not kept, because they may repeat what an earlier attempt sent.
    result: delivery.salt?.length === 0 ? { ...result, answer: null } : result,
    span,
  };
}

/** The attributes of an attempt's span; never the URL. */
export function attributesOf({ id, webhookId, number, event }: ClaimedDelivery, result: SendResult): Attributes {
  return {
    'carteiro.delivery_id': id,
    'carteiro.webhook_id': webhookId,
    'carteiro.attempt': number,
    'carteiro.evento': event,
    'carteiro.resultado': result.outcome,
    ...(result.statusCode !== null && { 'http.response.status_code': result.statusCode }),
  };
}
