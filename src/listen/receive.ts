/** A minimal partner's receiver: it checks the signature over the raw bytes before it parses them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HEADER_DELIVERY, HEADER_EVENT, HEADER_SIGNATURE } from '../contract/delivery.ts';

const MAX_BODY_BYTES = 1_048_576;

export interface PrintDeliveriesOptions {
  /** On 127.0.0.1; 0 takes any free port. */
  readonly port: number;
  /** The webhook's; null: signatures are not checked. */
  readonly secret: string | null;
  readonly print: (text: string) => void;
}

/** Prints each delivery; answers 200, or 401 to a wrong signature. */
export async function printDeliveries({ port, secret, print }: PrintDeliveriesOptions) {
  const server = createServer((request, response) => {
    const answer = (body: Buffer) => {
      const header = (name: string) => String(request.headers[name.toLowerCase()] ?? '');
      const isSigned = secret === null ? null : isSignedWith(secret, body, header(HEADER_SIGNATURE));
      const verdict = isSigned === null ? 'signature not checked' : isSigned ? 'signature OK' : 'SIGNATURE WRONG';
      const [event, delivery, text] = [header(HEADER_EVENT), header(HEADER_DELIVERY), body.toString()].map(printable);
      print(`${event}  ${delivery}  ${verdict}\n  ${text}`);
      response.writeHead(isSigned === false ? 401 : 200).end();
    };
    // A client that leaves after half a body gets no answer.
    readBody(request).then(answer, () => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.on('error', () => undefined);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  print(`receiving on ${url} (Ctrl-C stops it)`);
  return {
    url,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Escapes control and invisible characters and indents lines: a stranger's text must not steer the terminal. */
export function printable(text: string): string {
  const escape = (sign: string) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
  return text.replaceAll(/[^\P{C}\n\t]/gu, escape).replaceAll('\n', '\n  ');
}

function isSignedWith(secret: string, body: Buffer, header: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(header);
  return given.length === expected.length && timingSafeEqual(given, expected);
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
