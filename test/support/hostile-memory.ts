/** What a sender keeps and takes while every hostile receiver is sent to, over and over, in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSender } from '../../src/delivery/send.ts';
import type { HostileFarm } from './hostile-farm.ts';

export interface MemoryFigures {
  readonly attempts: number;
  /** Of live objects and buffers, in bytes, over what there was before: while the slow ones are in flight, and after. */
  readonly heldInFlight: number;
  readonly heldAfter: number;
  /** Of the process's resident memory, over what there was after the first rounds. */
  readonly residentGrowth: number;
  /** TCP sockets left after the sender was closed. */
  readonly sockets: number;
}

type Order = Pick<HostileFarm, 'receivers' | 'ca'> & { readonly rounds: number };

const TIMEOUT_MS = 300;
/** Until the process has grown to what its own work takes. */
const WARM_UP_ROUNDS = 10;

/** Live bytes, after everything that nobody holds has gone. */
async function liveBytes(): Promise<number> {
  for (let n = 0; n < 3; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function measure({ receivers, ca, rounds }: Order): Promise<MemoryFigures> {
  const sender = createSender({ allowInsecure: true, timeoutMs: TIMEOUT_MS, tls: { ca } });
  const body = Buffer.from('{"evento":"webhook.teste"}');
  let attempts = 0;
  let heldInFlight = 0;

  async function round(before: number | null): Promise<void> {
    const slow = receivers.map(async ({ url, expected }) => {
      for (let sent = 0; sent < expected.length; sent += 1) {
        attempts += 1;
        await sender.send({ url, body, headers: [] });
      }
    });
    await sleep(TIMEOUT_MS / 2);
    if (before !== null) heldInFlight = Math.max(heldInFlight, (await liveBytes()) - before);
    await Promise.all(slow);
  }

  for (let n = 0; n < WARM_UP_ROUNDS; n += 1) await round(null);
  const before = await liveBytes();
  const residentBefore = process.memoryUsage.rss();
  for (let n = 0; n < rounds; n += 1) await round(before);
  const heldAfter = (await liveBytes()) - before;
  const residentGrowth = process.memoryUsage.rss() - residentBefore;
  await sender.close();
  return { attempts, heldInFlight, heldAfter, residentGrowth, sockets: await socketsLeft() };
}

/** How many TCP sockets stay: those that are closing get time to. */
async function socketsLeft(): Promise<number> {
  for (let looks = 0; ; looks += 1) {
    const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    if (sockets === 0 || looks === 600) return sockets;
    await sleep(50);
  }
}

/** Sends `rounds` times to every receiver, all at once each time. */
export async function measureMemory({ receivers, ca }: HostileFarm, rounds: number): Promise<MemoryFigures> {
  const child = fork(import.meta.filename, ['measure'], { execArgv: ['--expose-gc'] });
  const exited = once(child, 'exit');
  child.send({ receivers, ca, rounds } satisfies Order);
  const [figures] = (await Promise.race([once(child, 'message'), exited])) as [MemoryFigures | number];
  if (typeof figures !== 'object') throw new Error(`the measured process left with code ${figures}`);
  child.disconnect();
  await exited;
  return figures;
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'measure') {
  process.once('message', (order: Order) => void measure(order).then((figures) => process.send?.(figures)));
}
