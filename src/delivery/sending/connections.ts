/**
 * Keep-alive connections to receivers: one undici `Client` each, one request at a time, HTTP/1.1.
 *
 * Why not undici's `Agent`: its pool hides which connection carries a request. The sender must know the address really
 * used, whether the connection had served before (only then may a broken POST be repeated), and be able to destroy a
 * connection that is still being made: a request queued in a pool cannot be taken back, and a black-holed connect
 * would outlive its attempt.
 */
import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { GuardedConnector } from '../target/guard.ts';
import { type AnswerStart, bearContinues } from './unasked-continue.ts';

/** How long an unused connection is kept, unless the receiver hints otherwise, and the longest hint believed. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
/** Unused connections kept over all receivers; beyond it they are closed after use. */
const MAX_IDLE_CONNECTIONS = 2_048;
const MAX_HEADER_BYTES = 16_384;

export interface Connection {
  readonly origin: string;
  readonly client: Client;
  /** The present socket; undici may make a second one when an idle one died before the request was written. */
  socket: Socket | null;
  /** The address really connected to, kept after the connection has ended; null while unknown, or known to the proxy alone. */
  address: string | null;
  /** Complete answers that the present socket has brought. */
  served: number;
  /** Bytes that the present socket had received when the last answer was complete. */
  bytesServed: number;
  readonly answerStart: AnswerStart;
  /** Called, while busy, after each chunk was parsed, with the bytes since that answer. */
  onBytes: (bytes: number) => void;
  state: 'busy' | 'idle' | 'discarded';
  giveUpConnecting: () => void;
}

export interface Connections {
  /** An idle connection to `origin`, or a new one; always a new one when `isFresh`. */
  take(origin: string, isFresh: boolean): Connection;
  /** After a complete answer: the connection may carry the next request. */
  release(connection: Connection): void;
  /** Destroys the connection, even while it is being made; nothing is written to it afterwards. */
  discard(connection: Connection): void;
  /** Destroys every connection. */
  close(): Promise<void>;
}

function ignore(): void {}

/**
 * Nobody asked an unused connection for anything: whatever comes on it must not be taken for the next answer, nor be
 * read for as long as its receiver likes to send.
 */
function onReadable(connection: Connection, socket: Socket, discard: (connection: Connection) => void): void {
  if (socket.destroyed) return;
  const bytes = socket.bytesRead - connection.bytesServed;
  if (connection.state === 'busy') connection.onBytes(bytes);
  else if (bytes > 0) discard(connection);
}

function openConnection(
  origin: string,
  connect: GuardedConnector,
  discard: (connection: Connection) => void,
): Connection {
  const client = new Client(origin, {
    connect: (target, callback) => {
      connection.giveUpConnecting = connect(target, (error, socket, address) => {
        if (socket === null) return callback(error, null);
        connection.socket = socket;
        connection.address = address;
        connection.served = 0;
        connection.bytesServed = 0;
        connection.answerStart.isNext = true;
        bearContinues(socket, connection.answerStart);
        callback(null, socket);
        // After the callback, in which undici adds its own listener: that one parses first.
        socket.on('readable', () => onReadable(connection, socket, discard));
      });
    },
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  const connection: Connection = {
    origin,
    client,
    socket: null,
    address: null,
    served: 0,
    bytesServed: 0,
    answerStart: { isNext: true },
    onBytes: ignore,
    state: 'busy',
    giveUpConnecting: ignore,
  };
  return connection;
}

function endAnswer(connection: Connection): void {
  connection.served += 1;
  connection.bytesServed = connection.socket?.bytesRead ?? 0;
  connection.answerStart.isNext = true;
  connection.onBytes = ignore;
}

export function createConnections(connect: GuardedConnector): Connections {
  const open = new Set<Connection>();
  const idleOf = new Map<string, Connection[]>();
  let idleCount = 0;

  function leaveIdle(connection: Connection): void {
    const stack = idleOf.get(connection.origin) ?? [];
    stack.splice(stack.lastIndexOf(connection), 1);
    if (stack.length === 0) idleOf.delete(connection.origin);
    idleCount -= 1;
  }

  function discard(connection: Connection): void {
    if (connection.state === 'discarded') return;
    if (connection.state === 'idle') leaveIdle(connection);
    connection.state = 'discarded';
    open.delete(connection);
    connection.giveUpConnecting();
    // Not at once: undici may be in the middle of one of its callbacks.
    queueMicrotask(() => connection.client.destroy(null, ignore));
  }

  /** The connection used last, so that the others can time out. */
  function takeIdle(origin: string): Connection | null {
    for (let found = idleOf.get(origin)?.at(-1); found !== undefined; found = idleOf.get(origin)?.at(-1)) {
      if (found.socket?.destroyed === false) {
        leaveIdle(found);
        found.state = 'busy';
        return found;
      }
      discard(found);
    }
    return null;
  }

  function openNew(origin: string): Connection {
    const connection = openConnection(origin, connect, discard);
    connection.client.on('disconnect', () => {
      if (connection.state === 'idle') discard(connection);
    });
    open.add(connection);
    return connection;
  }

  function release(connection: Connection): void {
    if (connection.state !== 'busy') return;
    endAnswer(connection);
    if (idleCount >= MAX_IDLE_CONNECTIONS) return discard(connection);
    const stack = idleOf.get(connection.origin);
    if (stack === undefined) idleOf.set(connection.origin, [connection]);
    else stack.push(connection);
    idleCount += 1;
    connection.state = 'idle';
  }

  async function close(): Promise<void> {
    const clients = [...open].map(({ client }) => client);
    for (const connection of open) discard(connection);
    await Promise.all(clients.map((client) => client.destroy()));
  }

  return {
    take: (origin, isFresh) => (isFresh ? null : takeIdle(origin)) ?? openNew(origin),
    release,
    discard,
    close,
  };
}
