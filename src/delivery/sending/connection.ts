import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { GuardedConnector, Stage } from '../target/guard.ts';
import type { ClientCertificate } from '../target/identity.ts';
import { type AnswerStart, bearContinues } from './unsolicited-continue.ts';

/** How long an unused connection is kept by default, and the longest hint of a receiver that is believed. */
export const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
const MAX_HEADER_BYTES = 16_384;
/** Bytes read of an answer after its attempt has ended, at most. */
const MAX_DRAINED_BYTES = 65_536;

/** Connections to equal places are interchangeable. */
export interface Place {
  readonly origin: string;
  /** Our client certificate; null: the service's own. */
  readonly certificate: ClientCertificate | null;
  readonly key: string;
}

export interface Connection {
  readonly place: Place;
  readonly client: Client;
  /** The present socket; undici opens a second one when an idle one died before the request was written. */
  socket: Socket | null;
  /** The address really connected to, kept after the connection has ended; null while unknown, or behind a resolving proxy. */
  address: string | null;
  /** Complete answers on the present socket. */
  served: number;
  /** Bytes received on the present socket at the last complete answer. */
  bytesServed: number;
  readonly answerStart: AnswerStart;
  /** What the connection waits for while it is being made; null afterwards. */
  stage: Stage | null;
  /** The first fault of the present socket; the client reports only its last, "closed". */
  fault: Error | null;
  /** Called while busy after each parsed chunk, with the bytes since the last complete answer. */
  onBytes: (bytes: number) => void;
  /** How often the clock saw it waiting to be accepted. */
  looks: number;
  /** Monotonic: when the present socket was asked for, and the deadline of a draining answer. */
  openedAtMs: number;
  drainsUntilMs: number;
  state: 'busy' | 'draining' | 'idle' | 'discarded';
  giveUpConnecting: () => void;
}

function ignore(): void {}

/** An unused connection expects nothing: bytes on it must not count as the next answer, nor be read for ever. */
function onReadable(connection: Connection, socket: Socket, discard: (connection: Connection) => void): void {
  if (socket.destroyed) return;
  const bytes = socket.bytesRead - connection.bytesServed;
  if (connection.state === 'busy') connection.onBytes(bytes);
  else if (bytes > (connection.state === 'draining' ? MAX_DRAINED_BYTES : 0)) discard(connection);
}

/** TLS: the handshake shows it; without TLS only the first byte of an answer does. */
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
        // After the callback in which undici adds its own listener: that one must parse first.
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
