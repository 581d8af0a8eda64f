/** Hostile receivers over https, and the outcome that each must get. */
import type { Socket } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { type Authority, makeAuthority, selfSigned } from '../certificates.ts';
import { answered, type Behaviour, broken, bytes, drip, type Expected, flood, OK, onRequests } from './behaviour.ts';
import { pour, reset, timedOut, tlsFault } from './behaviour.ts';

/** With TLS options, the behaviour follows a real handshake; without, it replaces the handshake. */
type TlsReceiver = readonly [
  name: string,
  options: ((authority: Authority) => TlsOptions) | null,
  behaviour: Behaviour,
  ...expected: readonly Expected[],
];

const MONTH_MS = 30 * 86_400_000;
const NAMES = ['localhost'];

const good = (authority: Authority): TlsOptions => authority.issue(NAMES);
const ok = bytes(OK);

/** The head of a TLS handshake record that announces 16 KiB. */
const RECORD = Buffer.from('1603034000', 'hex');
/** The head of a ServerHello that announces 16 MiB. */
const ENDLESS_HELLO = Buffer.concat([RECORD, Buffer.from('02ffffff', 'hex'), Buffer.alloc(16_380)]);
const FATAL_ALERT = Buffer.from('15030300020228', 'hex');
const WARNING_ALERT = Buffer.from('15030300020100', 'hex');

/** Waits for the ClientHello. */
function afterHello(act: (socket: Socket) => void): Behaviour {
  return (socket) => void socket.once('data', () => act(socket)).resume();
}

function dripHello(socket: Socket): void {
  let sent = 0;
  const timer = setInterval(() => socket.write(RECORD.subarray(sent % 5, (sent++ % 5) + 1)), 1_000);
  socket.once('close', () => clearInterval(timer));
  socket.write(RECORD);
}

export const TLS_RECEIVERS: readonly TlsReceiver[] = [
  ['has an expired certificate', (authority) => authority.issue(NAMES, Date.now() - MONTH_MS), ok, tlsFault],
  ['has a certificate of the future', (authority) => authority.issue(NAMES, Date.now() + MONTH_MS), ok, tlsFault],
  ['has a certificate of another name', (authority) => authority.issue(['other.example.com']), ok, tlsFault],
  ['has a certificate of a longer name', (authority) => authority.issue(['localhost.example.com']), ok, tlsFault],
  ['has a certificate of no name', (authority) => authority.issue([]), ok, tlsFault],
  ['has signed its certificate itself', () => selfSigned(NAMES), ok, tlsFault],
  ['has a certificate of an unknown authority', () => makeAuthority().issue(NAMES), ok, tlsFault],
  ['speaks TLS 1.0 alone', old('TLSv1'), ok, tlsFault],
  ['speaks TLS 1.1 alone', old('TLSv1.1'), ok, tlsFault],
  ['speaks HTTP/2 alone', (authority) => ({ ...good(authority), ALPNProtocols: ['h2'] }), ok, tlsFault],
  [
    'shares no cipher',
    (authority) => ({ ...good(authority), maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' }),
    ok,
    tlsFault,
  ],
  ['sends 1,000 certificates', bomb, ok, tlsFault],
  ['has a certificate of 3,000 names', (authority) => authority.issue([...NAMES, ...manyNames()]), ok, answered(200)],
  ['speaks plain HTTP', null, afterHello((socket) => socket.write(OK)), tlsFault],
  ['answers the handshake with a fatal alert', null, afterHello((socket) => socket.write(FATAL_ALERT)), tlsFault],
  ['warns without end', null, afterHello((socket) => pour(socket, '', WARNING_ALERT)), tlsFault],
  ['has a handshake message of 16 MiB', null, afterHello((socket) => pour(socket, '', ENDLESS_HELLO)), tlsFault],
  ['resets in the handshake', null, afterHello(reset), tlsFault],
  ['ends in the handshake', null, afterHello((socket) => socket.end()), tlsFault],
  ['never begins the handshake', null, (socket) => socket.resume(), timedOut],
  ['drips the handshake', null, afterHello(dripHello), timedOut],
  ['says nothing after the handshake', good, (socket) => socket.resume(), timedOut],
  ['floods with 103 inside TLS', good, flood('', 'HTTP/1.1 103 E\r\n\r\n'.repeat(1_000)), timedOut],
  ['says 100 Continue unasked inside TLS', good, bytes(`HTTP/1.1 100 C\r\n\r\n${OK}`), answered(200), answered(200)],
  ['drips a header inside TLS', good, drip('HTTP/1.1 200 OK\r\nx-slow: ', 'a', 200), timedOut],
  ['has a body without end inside TLS', good, flood('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536)), answered(200)],
  ['closes before its status line inside TLS', good, onRequests(reset), broken],
  ['demands a certificate of the client', demanding, ok, tlsFault],
  ['is closed under the next request inside TLS', good, closedWhenReused(), answered(200), answered(200)],
];

function old(version: 'TLSv1' | 'TLSv1.1'): (authority: Authority) => TlsOptions {
  return (authority) => ({
    ...good(authority),
    minVersion: version,
    maxVersion: version,
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
}

function bomb(authority: Authority): TlsOptions {
  const { key, cert } = authority.issue(NAMES);
  return { key, cert: cert + authority.ca.repeat(1_000) };
}

function manyNames(): string[] {
  return Array.from({ length: 3_000 }, (_, index) => `a${index}.example.com`);
}

function demanding(authority: Authority): TlsOptions {
  return { ...good(authority), ca: authority.ca, requestCert: true, rejectUnauthorized: true };
}

function closedWhenReused(): Behaviour {
  return onRequests((socket, request) => {
    if (request === 1) socket.write(OK);
    else socket.destroy();
  });
}

/** A TLS server, quiet about the faults that it provokes. */
export function tlsServer(options: TlsOptions, behaviour: Behaviour) {
  const server = createServer(options, (socket) => behaviour(socket.on('error', () => undefined)));
  return server.on('tlsClientError', () => undefined);
}
