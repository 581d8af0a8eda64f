/**
 * All hostile receivers in one separate process, so that their output neither delays the measured sender nor counts as its
 * memory.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { Worker } from 'node:worker_threads';
import { makeAuthority } from './certificates.ts';
import { type Expected, timedOut } from './hostile/behaviour.ts';
import { PLAIN_RECEIVERS } from './hostile/plain.ts';
import { endOf } from './ends.ts';
import { TLS_RECEIVERS, tlsServer } from './hostile/tls.ts';
import { listening } from './listening.ts';

export interface HostileReceiver {
  readonly name: string;
  readonly url: string;
  /** One expectation for each POST, in order. */
  readonly expected: readonly Expected[];
}

export interface HostileFarm {
  readonly receivers: readonly HostileReceiver[];
  /** The authority for clients that are to trust the hostile certificates. */
  readonly ca: string;
}

/** Listens with a queue of one and never accepts: once the queue is full, connecting gets no answer at all. */
const NEVER_ACCEPTS = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;

async function openBlackHole(): Promise<HostileReceiver> {
  const worker = new Worker(NEVER_ACCEPTS, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const { connect } = await import('node:net');
  const inQueue = [1, 2].map(() => once(connect(port, '127.0.0.1'), 'connect'));
  await Promise.all(inQueue);
  return { name: 'is a black hole', url: `http://127.0.0.1:${port}/`, expected: [timedOut] };
}

async function open(server: Server, host: string): Promise<string> {
  return `${host}:${await listening(server)}/`;
}

async function openAll(): Promise<HostileFarm> {
  const authority = makeAuthority();
  const receivers = [await openBlackHole()];
  for (const [name, behaviour, ...expected] of PLAIN_RECEIVERS) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      behaviour(socket.on('error', () => undefined).on('end', () => socket.end()));
    });
    receivers.push({ name, url: await open(server, 'http://127.0.0.1'), expected });
  }
  for (const [name, options, behaviour, ...expected] of TLS_RECEIVERS) {
    const server =
      options === null
        ? createServer((socket) => behaviour(socket.on('error', () => undefined)))
        : tlsServer(options(authority), behaviour);
    receivers.push({ name, url: await open(server, 'https://localhost'), expected });
  }
  return { receivers, ca: authority.ca };
}

/** Starts all receivers, which end with the file; resolves when each listens. */
export async function startHostileFarm(): Promise<HostileFarm> {
  const child = fork(import.meta.filename, ['serve'], { execArgv: [] });
  const exited = once(child, 'exit');
  const [opened] = (await Promise.race([once(child, 'message'), exited])) as [HostileFarm | number];
  if (typeof opened !== 'object') throw new Error(`the farm left with code ${opened}`);
  endOf(() => {
    child.kill('SIGKILL');
    return exited;
  });
  return opened;
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'serve') {
  // The test is over.
  process.on('disconnect', () => process.exit());
  process.send?.(await openAll());
}
