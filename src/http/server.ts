/** The listening socket of the API. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { ApiError, unavailable } from './api-error.ts';
import { type Bound, type ConnectionBounds, Connections } from './connections.ts';
import { bareRefusal } from './errors.ts';
import type { Fetch } from './request.ts';

export interface ServerOptions {
  readonly fetch: Fetch;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly bounds?: ConnectionBounds;
  readonly onDrop?: (bound: Bound) => void;
  /** For tests. */
  readonly times?: Times;
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

interface Times {
  /** The longest that a client may take for its headers, and for a whole request (56 MiB of documents included). */
  readonly headersMs: number;
  readonly requestMs: number;
  /** The longest that nothing moves on a connection with a request: longer than any operation takes (a test waits 35 s). */
  readonly stallMs: number;
  /** How long a refused client may read its answer: a socket closed with unread bytes sends a reset, and the answer is lost. */
  readonly lingerMs: number;
  /** How often the first two are looked after. */
  readonly checkEveryMs: number;
}

const TIMES: Times = { headersMs: 15_000, requestMs: 120_000, stallMs: 120_000, lingerMs: 1_000, checkEveryMs: 5_000 };
const UNBOUNDED: ConnectionBounds = { total: Number.POSITIVE_INFINITY, perAddress: 0, proxies: [] };
/** Longer than a load balancer's own idle time, usually 60 s, so that it never writes into a socket we just closed. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** The most unanswered requests of a connection: 64 KiB hold 2,000. Each is begun when the answer before it is out. */
const MAX_PIPELINED = 16;

/** Turns of the event loop that accept a waiting connection, read its request, and begin it. */
const UNREAD_TICKS = 3;

/** Starts to listen. Throws when the address is taken. */
export async function startServer(options: ServerOptions) {
  const { fetch, host, port, bounds = UNBOUNDED, onDrop = () => undefined, times = TIMES } = options;
  const listener = getRequestListener(fetch, { errorHandler: answerUnreadable });
  const connections = new Connections(bounds, onDrop);
  let isLeaving = false;
  const server = createServer(
    {
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      connectionsCheckingInterval: times.checkEveryMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Without a Host the request is answered here and not by Node, whose answer has no body.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      const answer = () => {
        // A client told so does not send its next request into a socket that is about to close.
        if (isLeaving || !server.listening) outgoing.setHeader('Connection', 'close');
        void listener(incoming, outgoing);
      };
      answerInOrder(connections, incoming, outgoing, answer);
    },
  );
  server.setTimeout(times.stallMs);
  server.on('connection', (socket) => connections.admit(socket));
  server.on('checkExpectation', (_incoming, outgoing) => {
    refuse(outgoing, new ApiError('ERRO_VALIDACAO', 'o cabeçalho Expect só pode ser 100-continue'));
  });
  const answered = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    // What comes after the bytes that could not be read cannot be read either.
    if (answered.has(socket) && error.code !== 'ECONNRESET') return;
    answered.add(socket);
    const isAnswering = connections.answersOf(socket).some(({ headersSent }) => headersSent);
    // Browsers open connections before they need them: one would take an unsolicited 400 for the answer to its next request.
    const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering || isUnused) socket.destroy();
    else answerBroken(socket, times.lingerMs);
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  // Also afterwards, when it does nothing: an accept that failed is one connection's fault, and must not end the process.
  server.on('error', reject);
  server.listen(port, host, resolve);
  await listening;
  const { port: taken } = server.address() as AddressInfo;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    /** `http://127.0.0.1:3000`, without a path. */
    url: `http://${shownHost}:${taken}`,
    connections: () => connections.count,
    requests: () => connections.requests,
    /** From now on clients are told to open another connection for their next request. */
    sendAway: () => {
      isLeaving = true;
    },
    /** Takes no new request, lets those under way end within `timeoutMs`, then cuts what is left. */
    close: (timeoutMs = 10_000) => close(server, timeoutMs),
  };
}

/** Calls `answer` when the answers before it on the connection are out; refuses a request that too many are ahead of. */
function answerInOrder(
  connections: Connections,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: () => void,
): void {
  const ahead = connections.answersOf(incoming.socket);
  if (ahead.length >= MAX_PIPELINED) {
    refuse(outgoing, unavailable(new Error('too many requests at once on a connection')));
    return;
  }
  connections.begin(incoming, outgoing);
  // HTTP/1.0 knows no Host; simple probes of load balancers speak it.
  if (incoming.httpVersion === '1.0') incoming.headers.host ||= 'localhost';
  const before = ahead.at(-1);
  if (before === undefined) answer();
  else before.once('close', () => incoming.socket.destroyed || answer());
}

/** Answers without the app, and closes the connection. */
function refuse(outgoing: ServerResponse, error: ApiError): void {
  const { status, headers, body } = bareRefusal(error);
  outgoing.writeHead(status, { ...headers, Connection: 'close' }).end(body);
}

const unreadable = () => bareRefusal(new ApiError('ERRO_VALIDACAO', 'a requisição não pôde ser lida'));

/** A request that is no HTTP request for us: a bad Host header or a path that is no URL. */
function answerUnreadable(): Response {
  const { body, ...rest } = unreadable();
  return new Response(body, rest);
}

/**
 * Answers bytes that are no HTTP, too slow, or over 16 KiB of headers; Node's answer has no body. The socket is destroyed even if
 * the client keeps its half open, or its descriptor would stay.
 */
function answerBroken(socket: Socket, lingerMs: number): void {
  const { headers, body } = unreadable();
  const whole = { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(whole).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

async function close(server: Server, timeoutMs: number): Promise<void> {
  // What a process that stood still has not read yet came before this moment.
  for (let tick = 0; tick < UNREAD_TICKS; tick += 1) await setImmediate();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // Idle keep-alive sockets would hold the server open; a socket falls idle when its last answer is out.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
