import { createServer } from 'node:http';
import { verify } from './carteiro.mjs';

const secrets = process.env.CARTEIRO_SECRETS.split(','); // the new one and, while a rotation lasts, the one before

async function receive(request, response) {
  if (new URL(request.url, 'http://x').pathname !== '/carteiro') return response.writeHead(404).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks); // before any parsing
  if (!verify(rawBody, request.headers, secrets)) return response.writeHead(401).end();
  // Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
  return response.writeHead(204).end();
}

createServer((request, response) => {
  receive(request, response).catch(() => response.destroy()); // whoever hangs up in the middle of a body
}).listen(process.env.PORT ?? 8080);
