/** The peers' POST: signed, keep-alive, on undici's lowest level, as fast as undici goes. */
import { createHmac } from 'node:crypto';
import { type Dispatcher, Pool } from 'undici';
import { EVENT } from '../workload.ts';

export function createPoster(origin: string, connections: number) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  return {
    /** POSTs the signed body; resolves with the status code. */
    post(path: string, secret: string, delivery: string, body: string | Buffer) {
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
    },
    close: () => pool.close(),
  };
}
