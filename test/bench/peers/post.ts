/** The peers' POST: signed, keep-alive, on undici's lowest level, as fast as undici goes. */
import { createHmac } from 'node:crypto';
import { type Dispatcher, Pool } from 'undici';
import { EVENT, pathOf, peerWebhookId, secretOf } from '../workload.ts';
import type { AttemptRow } from './attempts.ts';

export function createPoster(origin: string, connections: number) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const secrets = new Map<number, string>();
  /** POSTs the signed body; resolves with the status code. */
  function post(path: string, secret: string, delivery: string, body: string | Buffer) {
    const headers = {
      'Content-Type': 'application/json',
      'X-Webhook-Event': EVENT,
      'X-Webhook-Delivery': delivery,
      'X-Webhook-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    };
    return new Promise<number>((resolve, reject) => {
      let status = 0;
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData() {},
        onResponseEnd() {
          resolve(status);
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      };
      pool.dispatch({ path, method: 'POST', headers, body }, handler);
    });
  }
  return {
    post,
    /** POSTs a delivery to webhook number `webhook`; resolves with the row of its attempt. */
    async deliver(webhook: number, delivery: string, body: string): Promise<AttemptRow> {
      const path = pathOf(webhook);
      let secret = secrets.get(webhook);
      if (secret === undefined) secrets.set(webhook, (secret = secretOf(path)));
      const [startedAtMs, startedMs] = [Date.now(), performance.now()];
      const statusCode = await post(path, secret, delivery, body);
      const durationMs = performance.now() - startedMs;
      return { delivery, webhook: peerWebhookId(webhook), statusCode, startedAtMs, durationMs, url: origin + path };
    },
    close: () => pool.close(),
  };
}
