/** A whole receiver: `PORT=8080 CARTEIRO_SECRETS=whsec_… node receiver.ts`, with carteiro.ts beside it. */
import { createServer } from 'node:http';
import { verify } from './carteiro.ts';

/** Separated by commas: the new secret and, while a rotation lasts, the one before. */
const secrets = (process.env['CARTEIRO_SECRETS'] ?? '').split(',');

createServer((request, response) => {
  const chunks: Uint8Array[] = [];
  request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  request.on('end', () => {
    const rawBody = Buffer.concat(chunks);
    if (!verify(rawBody, request.headers, secrets)) {
      response.writeHead(401).end();
      return;
    }
    // Store it here, once for each X-Webhook-Delivery; answer; work on it afterwards.
    response.writeHead(204).end();
  });
}).listen(Number(process.env['PORT'] ?? 8_080));
