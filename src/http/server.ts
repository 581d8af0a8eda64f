/** The listening socket of the API. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { ERROR_STATUS } from '../contract/errors.ts';
import { ApiError } from './api-error.ts';
import { errorBody } from './errors.ts';
import { newRequestId } from './request-id.ts';

export interface ServerOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

export interface RunningServer {
  /** `http://127.0.0.1:3000`, without a path. */
  readonly url: string;
  /** Takes no new request, lets those under way end within `timeoutMs`, then cuts what is left. */
  close(timeoutMs?: number): Promise<void>;
}

/** The longest that a client may take for its headers, and for a whole request (56 MiB of documents included). */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Longer than a load balancer's own idle time, usually 60 s, so that it never writes into a socket we just closed. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Starts to listen. Throws when the address is taken. */
export async function startServer({ fetch, host, port }: ServerOptions): Promise<RunningServer> {
  const listener = getRequestListener(fetch, { errorHandler: answerUnreadable });
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Without a Host the request is answered here and not by Node, whose answer has no body.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      // A client told so does not send its next request into a socket that is about to close.
      if (!server.listening) outgoing.setHeader('Connection', 'close');
      // HTTP/1.0 knows no Host; simple probes of load balancers speak it.
      if (incoming.httpVersion === '1.0') incoming.headers.host ||= 'localhost';
      void listener(incoming, outgoing);
    },
  );
  server.on('checkExpectation', (_incoming, outgoing) => {
    const requestId = newRequestId();
    const error = new ApiError('ERRO_VALIDACAO', 'o cabeçalho Expect só pode ser 100-continue');
    outgoing.writeHead(ERROR_STATUS[error.code], { 'Content-Type': 'application/json', 'X-Request-Id': requestId });
    outgoing.end(JSON.stringify(errorBody(error, requestId)));
  });
  server.on('clientError', answerBroken);
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, host, resolve);
  await listening;
  const { port: taken } = server.address() as AddressInfo;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shownHost}:${taken}`, close: (timeoutMs = 10_000) => close(server, timeoutMs) };
}

/** A request that is no HTTP request for us: a bad Host header or a path that is no URL. */
function answerUnreadable(): Response {
  const requestId = newRequestId();
  const error = new ApiError('ERRO_VALIDACAO', 'a requisição não pôde ser lida');
  return Response.json(errorBody(error, requestId), {
    status: ERROR_STATUS[error.code],
    headers: { 'X-Request-Id': requestId },
  });
}

/** What is not even HTTP, or has more than 16 KiB of headers: Node would answer it with an empty body. */
function answerBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newRequestId();
  const body = JSON.stringify(errorBody(new ApiError('ERRO_VALIDACAO', 'a requisição não pôde ser lida'), requestId));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function close(server: Server, timeoutMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // Idle keep-alive sockets would hold the server open; a socket falls idle when its last answer is out.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
