/**
 * A real receiver on loopback: it records every POST and answers each by a script, which may be hostile. Answers that
 * node:http would not allow are written to the socket as bytes.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Identity } from './certificates.ts';
import { endOf } from './ends.ts';
import { dribble, pour, reset, say } from './hostile/behaviour.ts';
import { listening } from './listening.ts';

export interface Post {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The exact bytes. */
  readonly body: Buffer;
  /** `performance.now()` when the last byte was in. */
  readonly atMs: number;
  /** Which TCP connection carried it, counted from 1, and which request of that connection it was. */
  readonly connection: number;
  readonly requestOfConnection: number;
}

/** Answers one POST, at once or later, well or badly. */
export type Answer = (post: Post, response: ServerResponse, socket: Socket) => void;

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export interface ReceiverOptions {
  /** With `ca` and `requestCert` the client is asked for a certificate. */
  readonly tls?: Identity & { readonly ca?: string; readonly requestCert?: boolean };
  /** `127.0.0.1` unless it is given. */
  readonly host?: string;
}

/** A whole answer, after `delayMs` (default 0). */
export function status(code: number, body = '', { delayMs = 0, headers = {} } = {}): Answer {
  return (_post, response) => {
    const write = () => response.writeHead(code, headers).end(body);
    if (delayMs === 0) write();
    else setTimeout(write, delayMs);
  };
}

/** No answer, ever. */
export function hang(): Answer {
  return () => undefined;
}

/** A reset before the status line. */
export const resetAtOnce = (): Answer => (_post, _response, socket) => reset(socket);

/** Writes the bytes as they are; then leaves the connection open, ends it or resets it. */
export function raw(bytes: string | Buffer, after: 'open' | 'end' | 'reset' = 'open'): Answer {
  return (_post, _response, socket) => say(socket, bytes, after);
}

export function redirect(code: number, location: string): Answer {
  return status(code, '', { headers: { location } });
}

/** `head` at once, then `piece` again and again every `everyMs` until the other side has gone. */
export function drip(head: string, piece: string, everyMs: number): Answer {
  return (_post, _response, socket) => dribble(socket, head, piece, everyMs);
}

/** `head` at once, then `piece` without end, as fast as the other side reads. */
export function flood(head: string, piece: string | Buffer): Answer {
  return (_post, _response, socket) => pour(socket, head, piece);
}

/** Answers 200 to the first POST of a connection and breaks the connection under the second. */
export function breakWhenReused(how: 'end' | 'reset'): Answer {
  return (post, response, socket) => {
    if (post.requestOfConnection === 1) response.writeHead(200).end('ok');
    else if (how === 'reset') reset(socket);
    else socket.destroy();
  };
}

/** Starts a receiver on a free loopback port. */
export async function startReceiver({ tls, host = '127.0.0.1' }: ReceiverOptions = {}) {
  const posts: Post[] = [];
  const answers = new Map<string, Answer>();
  const numbers = new WeakMap<Socket, { connection: number; requests: number }>();
  const sockets = new Set<Socket>();
  const waiting = new Set<{ count: number; resolve: () => void }>();
  let defaultAnswer = status(200);
  let accepted = 0;

  function record(request: IncomingMessage, body: Buffer): Post {
    const place = numbers.get(request.socket) ?? { connection: (accepted += 1), requests: 0 };
    numbers.set(request.socket, place);
    place.requests += 1;
    const post: Post = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      atMs: performance.now(),
      connection: place.connection,
      requestOfConnection: place.requests,
    };
    posts.push(post);
    for (const waiter of waiting) {
      if (posts.length < waiter.count) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
    return post;
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const post = record(request, Buffer.concat(chunks));
      (answers.get(post.path) ?? defaultAnswer)(post, response, request.socket);
    });
  };
  const server = tls === undefined ? createHttpServer(listener) : createHttpsServer(tls, listener);
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  let tcpConnections = 0;
  server.on('connection', () => (tcpConnections += 1));
  const port = await listening(server, host);

  return {
    /** `http://host:port` or, with TLS, `https://localhost:port`. */
    url: tls === undefined ? `http://${host}:${port}` : `https://localhost:${port}`,
    port,
    posts,
    /** TCP connections accepted so far. */
    connections: () => tcpConnections,
    /** Sets the script for one path, or for all paths without their own script. The default answers 200. */
    answerWith(answer: Answer, path?: string) {
      if (path === undefined) defaultAnswer = answer;
      else answers.set(path, answer);
    },
    /** Resolves when `count` POSTs have been received in all. */
    async received(count: number) {
      if (posts.length >= count) return;
      await new Promise<void>((resolve) => waiting.add({ count, resolve }));
    },
    /** Closes every connection that is open now, as a receiver does at its idle timeout. */
    closeConnections() {
      for (const socket of sockets) socket.destroy();
    },
    close: endOf(async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    }),
  };
}
