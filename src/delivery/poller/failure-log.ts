import type { Logger } from '../../log-lines.ts';
import type { ClaimedDelivery } from '../queue/claim.ts';
import type { SendResult } from '../sending/send.ts';

/** One line per failed attempt: ids and the outcome, never the URL (it may carry a token) or the answer. */
export function logFailure(log: Logger, delivery: ClaimedDelivery, result: SendResult): void {
  log.warn(
    {
      delivery_id: delivery.id,
      webhook_id: delivery.webhookId,
      partner_id: delivery.partnerId,
      event: delivery.event,
      attempt: delivery.number,
      outcome: result.outcome,
      status_code: result.statusCode,
      duration_ms: result.durationMs,
    },
    'attempt failed',
  );
}
