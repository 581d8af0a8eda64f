/** A partner's receiver, as small as one can be: it checks the signature over the raw bytes before it reads them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HEADER_DELIVERY, HEADER_EVENT, HEADER_SIGNATURE } from '../contract/delivery.ts';

export interface Received {
  readonly path: string;
  readonly event: string;
  readonly delivery: string;
  readonly body: Buffer;
  /** Null when the receiver knows no secret for the path. */
  readonly isSignatureValid: boolean | null;
}

export interface SmallReceiver {
  readonly url: string;
  close(): void;
}

export interface SmallReceiverOptions {
  readonly port: number;
  /** The secret of the webhook whose URL has this path; null when it is not known. */
  readonly secretOf: (path: string) => string | null;
  /** Looks at a delivery and says the status to answer. */
  readonly onDelivery: (received: Received) => number;
}

const MAX_BODY_BYTES = 1_048_576;

/** True when `header` is the HMAC-SHA256 of the raw body under the secret. */
function isSigned(body: Buffer, header: string, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(header);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Listens on 127.0.0.1; port 0 takes any free one. */
export async function startSmallReceiver(options: SmallReceiverOptions): Promise<SmallReceiver> {
  const { port, secretOf, onDelivery } = options;
  const server = createServer((request, response) => {
    const answer = (body: Buffer) => {
      const path = request.url ?? '/';
      const secret = secretOf(path);
      const signature = headerOf(request, HEADER_SIGNATURE);
      const status = onDelivery({
        path,
        event: headerOf(request, HEADER_EVENT),
        delivery: headerOf(request, HEADER_DELIVERY),
        body,
        isSignatureValid: secret === null ? null : isSigned(body, signature, secret),
      });
      response.writeHead(status).end();
    };
    // Whoever sends half a body and leaves gets no answer.
    readBody(request).then(answer, () => response.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name.toLowerCase()];
  return typeof value === 'string' ? value : '';
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
