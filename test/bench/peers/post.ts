/** The peers' POST: signed, keep-alive, on undici's lowest level, as fast as undici goes. */
import { createHmac } from 'node:crypto';
import { type Dispatcher, Pool } from 'undici';
import { EVENT } from '../workload.ts';

export interface Poster {
  /** POSTs the signed body; resolves with the status code. */
  post(path: string, secret: string, delivery: string, body: string | Buffer): Promise<number>;
  close(): Promise<void>;
}

export function createPoster(origin: string, connections: number): Poster {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  return {
    post(path, secret, delivery, body) {
      const headers = {
        'Content-Type': 'application/json',
        'X-Webhook-Event': EVENT,
        'X-Webhook-Delivery': delivery,
        'X-Webhook-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      };
      return new Promise((resolve, reject) => {
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
    },
    close: () => pool.close(),
  };
}
