/**
 * One connection to a receiver: an undici `Client` with one request at a time, HTTP/1.1.
 */
import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { GuardedConnector, Stage } from '../target/guard.ts';
import type { ClientCertificate } from '../target/identity.ts';
import { type AnswerStart, bearContinues } from './unasked-continue.ts';

/** How long an unused connection is kept, unless the receiver hints otherwise, and the longest hint believed. */
export const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
const MAX_HEADER_BYTES = 16_384;
/** Of the rest of an answer, behind the end of its attempt. */
const MAX_DRAINED_BYTES = 65_536;

/** Where connections are alike. */
export interface Place {
  readonly origin: string;
  /** What we show there; null: the service's own. */
  readonly certificate: ClientCertificate | null;
  /** Of both. */
  readonly key: string;
}

export interface Connection {
  readonly place: Place;
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
  /** What the connection waits for while it is being made; null once it is there. */
  stage: Stage | null;
  /** The first fault of the present socket: the client tells only its last, "closed". */
  fault: Error | null;
  /** Called, while busy, after each chunk was parsed, with the bytes since that answer. */
  onBytes: (bytes: number) => void;
  /** How often it was seen while it waited to be accepted. */
  looks: number;
  /** Of the clock: when the present socket was asked for, and until when the rest of an answer may come. */
  openedAtMs: number;
  drainsUntilMs: number;
  state: 'busy' | 'draining' | 'idle' | 'discarded';
  giveUpConnecting: () => void;
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
  else if (bytes > (connection.state === 'draining' ? MAX_DRAINED_BYTES : 0)) discard(connection);
}

/** Over TLS a handshake tells; without it only the first byte of an answer does. */
export function isAccepted({ place: { origin }, served, socket }: Connection): boolean {
  return served > 0 || (socket !== null && (origin.startsWith('https:') || socket.bytesRead > 0));
}

export function openConnection(
  place: Place,
  connect: GuardedConnector,
  discard: (connection: Connection) => void,
  now: () => number,
  idleMs: number,
): Connection {
  const client = new Client(place.origin, {
    connect: (target, callback) => {
      connection.openedAtMs = now();
      const onStage = (stage: Stage): void => void (connection.stage = stage);
      connection.giveUpConnecting = connect(target, onConnected, onStage, place.certificate);
      function onConnected(...[error, socket, address]: Parameters<Parameters<GuardedConnector>[1]>): void {
        if (socket === null) return callback(error, null);
        connection.stage = null;
        connection.fault = null;
        socket.once('error', (fault) => (connection.fault ??= fault));
        connection.socket = socket;
        connection.address = address;
        connection.served = 0;
        connection.bytesServed = 0;
        connection.answerStart.isNext = true;
        bearContinues(socket, connection.answerStart);
        callback(null, socket);
        // After the callback, in which undici adds its own listener: that one parses first.
        socket.on('readable', () => onReadable(connection, socket, discard));
      }
    },
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: Math.max(idleMs, MAX_IDLE_MS),
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  const connection: Connection = {
    place,
    client,
    socket: null,
    address: null,
    served: 0,
    bytesServed: 0,
    answerStart: { isNext: true, chunk: null },
    stage: null,
    fault: null,
    onBytes: ignore,
    looks: 0,
    openedAtMs: now(),
    drainsUntilMs: 0,
    state: 'busy',
    giveUpConnecting: ignore,
  };
  return connection;
}

export function endAnswer(connection: Connection): void {
  connection.served += 1;
  connection.bytesServed = connection.socket?.bytesRead ?? 0;
  connection.answerStart.isNext = true;
  connection.onBytes = ignore;
}
