/**
 * The receiver of a fault run, in a separate process that no fault hits. It writes a line for every POST whose body was received
 * in full, then answers, well or badly.
 * Arguments: file, seed, `haste` or `patience`. Prints its port; ends when standard input does.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Treatment, treatmentOf } from '../chaos/plan.ts';

const [file = '', seed = '0', pace = ''] = process.argv.slice(2);
const record = createWriteStream(file);
const posts = new Map<string, number>();
const served = new WeakMap<Socket, number>();

function drip(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('x'), 500);
  socket.once('close', () => clearInterval(timer));
}

function treat({ kind, status, delayMs }: Treatment, socket: Socket, response: ServerResponse): void {
  const reply = (): void => void response.writeHead(status, { 'content-length': 2 }).end('ok');
  if (kind === 'answer' && delayMs === 0) reply();
  else if (kind === 'answer') setTimeout(reply, delayMs);
  else if (kind === 'reset') socket.resetAndDestroy();
  else if (kind === 'half') socket.write('HTTP/1.1 2', () => setImmediate(() => socket.resetAndDestroy()));
  else if (kind === 'drip-body') drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
  else if (kind === 'drip-head') drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: ');
}

function onPost(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { socket, url = '' } = request;
  const id = String(request.headers['x-webhook-delivery']);
  const post = (posts.get(id) ?? 0) + 1;
  posts.set(id, post);
  const ofConnection = (served.get(socket) ?? 0) + 1;
  served.set(socket, ofConnection);
  const [, stream] = /"emprestimo_id" ?: ?"([0-9a-f-]{36})"/.exec(body.toString('latin1')) ?? [];
  // One draw for all POSTs of an endpoint would make it always answer, or always hang.
  if (stream === undefined) throw new Error('a POST whose stream cannot be told');
  const treatment = treatmentOf(Number(seed), url, stream, post, pace === 'haste');
  const hash = createHash('sha256').update(body).digest('hex');
  // The sender may repeat a POST within one attempt when a kept-alive connection breaks.
  const mayRepeat = treatment.kind === 'reset' && ofConnection > 1;
  const delivers = treatment.status >= 200 && treatment.status < 300;
  record.write(`${id}\t${Date.now()}\t${hash}\t${mayRepeat}\t${delivers}\n`);
  treat(treatment, socket, response);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => onPost(request, response, Buffer.concat(chunks)));
});
server.keepAliveTimeout = 60_000;
server.on('connection', (socket: Socket) => socket.on('error', () => socket.destroy()));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.once('end', () => record.end(() => process.exit(0)));
