/**
 * A poller's log of failed attempts: a webhook's first failure, then one line a minute with the count by outcome. Each attempt has its row
 * anyway. Logs ids and outcomes only: the URL may carry a token.
 */
import type { Outcome } from '../../contract/statuses.ts';
import type { Logger } from '../../log-lines.ts';
import type { ClaimedDelivery } from '../queue/claim.ts';
import type { SendResult } from '../sending/send.ts';

const EVERY_MS = 60_000;

interface Logged {
  readonly atMs: number;
  readonly partnerId: string;
  readonly counts: Map<Outcome, number>;
}

export class FailureLog {
  readonly #log: Logger;
  readonly #logged = new Map<string, Logged>();

  constructor(log: Logger) {
    this.#log = log;
  }

  add(delivery: ClaimedDelivery, { outcome, statusCode, durationMs }: SendResult, nowMs: number): void {
    this.#reportOlder(nowMs);
    const { id, webhookId, partnerId, event, number } = delivery;
    const known = this.#logged.get(webhookId);
    if (known !== undefined) {
      known.counts.set(outcome, (known.counts.get(outcome) ?? 0) + 1);
      return;
    }
    this.#logged.set(webhookId, { atMs: nowMs, partnerId, counts: new Map() });
    const ids = { delivery_id: id, webhook_id: webhookId, partner_id: partnerId };
    const fields = { ...ids, event, attempt: number, outcome, status_code: statusCode, duration_ms: durationMs };
    this.#log.warn(fields, 'attempt failed; more of this webhook are told once a minute');
  }

  #reportOlder(nowMs: number): void {
    for (const [webhookId, { atMs, partnerId, counts }] of this.#logged) {
      if (nowMs - atMs < EVERY_MS) return;
      this.#logged.delete(webhookId);
      if (counts.size === 0) continue;
      this.#logged.set(webhookId, { atMs: nowMs, partnerId, counts: new Map() });
      const fields = { webhook_id: webhookId, partner_id: partnerId, for_s: Math.round((nowMs - atMs) / 1_000) };
      this.#log.warn({ ...fields, ...Object.fromEntries(counts) }, 'attempts failed');
    }
  }
}
