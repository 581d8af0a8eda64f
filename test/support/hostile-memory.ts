/** Measures the memory and sockets of a sender, in a separate process, while it sends to every hostile receiver repeatedly. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSender } from '../../src/delivery/sending/send.ts';
import type { HostileFarm } from './hostile-farm.ts';

export interface MemoryFigures {
  readonly attempts: number;
  /** Growth of live objects and buffers in bytes: while the slow receivers are in flight, and after. */
  readonly heldInFlight: number;
  readonly heldAfter: number;
  /** Growth of the process's resident memory in the block of rounds in which it grew least: a leak grows in each of them. */
  readonly residentGrowth: number;
  /** TCP sockets left after the sender was closed. */
  readonly sockets: number;
}

type Order = HostileFarm & { readonly rounds: number; readonly enough: number };

const TIMEOUT_MS = 300;
/** Rounds until the process has reached the size that its own work needs. */
const WARM_UP_ROUNDS = 10;
/** On a busy machine the collector is late, and the process grows for longer. */
const BLOCKS = 5;

/** Live bytes after garbage collection. */
async function liveBytes(): Promise<number> {
  for (let n = 0; n < 3; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function measure({ receivers, ca, rounds, enough }: Order): Promise<MemoryFigures> {
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
  let residentGrowth = Number.POSITIVE_INFINITY;
  for (let block = 0; block < BLOCKS && residentGrowth > enough; block += 1) {
    const residentBefore = process.memoryUsage.rss();
    for (let n = 0; n < rounds; n += 1) await round(before);
    residentGrowth = Math.min(residentGrowth, process.memoryUsage.rss() - residentBefore);
  }
  const heldAfter = (await liveBytes()) - before;
  await sender.close();
  return { attempts, heldInFlight, heldAfter, residentGrowth, sockets: await socketsLeft() };
}

/** The number of TCP sockets left, after those that are closing had time to close. */
async function socketsLeft(): Promise<number> {
  for (let looks = 0; ; looks += 1) {
    const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    if (sockets === 0 || looks === 600) return sockets;
    await sleep(50);
  }
}

/** Sends `rounds` times to every receiver, all at once each time; again while the process grows by more than `enough` bytes in that. */
export async function measureMemory(
  { receivers, ca }: HostileFarm,
  rounds: number,
  enough: number,
): Promise<MemoryFigures> {
  const child = fork(import.meta.filename, ['measure'], { execArgv: ['--expose-gc'] });
  const exited = once(child, 'exit');
  child.send({ receivers, ca, rounds, enough } satisfies Order);
  const [figures] = (await Promise.race([once(child, 'message'), exited])) as [MemoryFigures | number];
  if (typeof figures !== 'object') throw new Error(`the measured process left with code ${figures}`);
  child.disconnect();
  await exited;
  return figures;
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'measure') {
  process.once('message', (order: Order) => void measure(order).then((figures) => process.send?.(figures)));
}
