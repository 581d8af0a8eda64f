/**
 * The receiver: one process, one port, HTTP/1.1 with keep-alive, read from the socket by hand so that it costs as little
 * as a receiver can (the machine's cores belong to the senders). It counts, keeps arrival times when asked, checks
 * the HMAC of one POST in 64, and can leave paths unanswered.
 */
import { createHmac } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { secretOf } from '../workload.ts';
import { offerCalls } from './child.ts';
import { monotonicMs } from './clock.ts';
import { createRandom } from '../../support/random.ts';

const OK = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const UNAVAILABLE = Buffer.from('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const ID_KEY = Buffer.from('"emprestimo_id":"');
const CHECK_EVERY = 64;

/** How a path answers: at once, after some time, with 503, or never. */
export interface Behaviour {
  readonly prefix: string;
  readonly answer: 'ok' | 'unavailable' | 'hang';
  readonly delayMs?: number;
  /** `delayMs` is the median of times that are log-normal with this sigma. */
  readonly sigma?: number;
  /** What is more than so many at once on one path is answered with 503 at once. */
  readonly holds?: number;
}

interface Counters {
  posts: number;
  /** Answered with 503. */
  refused: number;
  checked: number;
  badSignatures: number;
  firstMs: number;
  lastMs: number;
  /** The longest time between two POSTs. */
  gapMs: number;
}

const NONE: Counters = { posts: 0, refused: 0, checked: 0, badSignatures: 0, firstMs: 0, lastMs: 0, gapMs: 0 };

let counters = { ...NONE };
let isKeeping = false;
/** By path and `emprestimo_id`. */
let kept: { path: string; id: string; atMs: number }[] = [];
let behaviours: readonly Behaviour[] = [];
const openNow = new Map<string, number>();
const openPeak = new Map<string, number>();
const waiting = new Set<{ count: number; resolve: (atMs: number) => void }>();
const secrets = new Map<string, string>();
const random = createRandom(1).next;

function checkSignature(head: string, path: string, body: Buffer): void {
  const [, given = ''] = /x-webhook-signature: sha256=([0-9a-f]{64})/i.exec(head) ?? [];
  let secret = secrets.get(path);
  if (secret === undefined) secrets.set(path, (secret = secretOf(path)));
  counters.checked += 1;
  if (given !== createHmac('sha256', secret).update(body).digest('hex')) counters.badSignatures += 1;
}

function count(head: string, path: string, body: Buffer): void {
  const atMs = monotonicMs();
  counters.posts += 1;
  if (counters.posts === 1) counters.firstMs = atMs;
  counters.gapMs = Math.max(counters.gapMs, atMs - (counters.lastMs || atMs));
  counters.lastMs = atMs;
  if (counters.posts % CHECK_EVERY === 1) checkSignature(head, path, body);
  if (isKeeping) {
    const start = body.indexOf(ID_KEY) + ID_KEY.length;
    kept.push({ path, id: body.toString('latin1', start, start + 36), atMs });
  }
  for (const waiter of waiting) {
    if (counters.posts < waiter.count) continue;
    waiting.delete(waiter);
    waiter.resolve(atMs);
  }
}

function delayOf({ delayMs = 0, sigma = 0 }: Behaviour): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return delayMs * Math.exp(sigma * normal);
}

function answer(socket: Socket, path: string): void {
  const behaviour = behaviours.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
  if (!behaviour || (behaviour.answer === 'ok' && behaviour.delayMs === undefined)) {
    socket.write(OK);
    return;
  }
  const now = (openNow.get(path) ?? 0) + 1;
  if (now > (behaviour.holds ?? Infinity)) {
    counters.refused += 1;
    socket.write(UNAVAILABLE);
    return;
  }
  openNow.set(path, now);
  openPeak.set(path, Math.max(openPeak.get(path) ?? 0, now));
  let isOpen = true;
  const close = () => {
    if (isOpen) openNow.set(path, (openNow.get(path) ?? 1) - 1);
    isOpen = false;
  };
  socket.once('close', close);
  if (behaviour.answer === 'hang') return;
  setTimeout(() => {
    close();
    socket.off('close', close);
    if (behaviour.answer === 'unavailable') counters.refused += 1;
    socket.write(behaviour.answer === 'ok' ? OK : UNAVAILABLE);
  }, delayOf(behaviour));
}

function serve(socket: Socket): void {
  let rest: Buffer | null = null;
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    let data = rest === null ? chunk : Buffer.concat([rest, chunk]);
    rest = null;
    while (data.length > 0) {
      const headEnd = data.indexOf(HEAD_END);
      const head = headEnd === -1 ? '' : data.toString('latin1', 0, headEnd);
      const [, length = '0'] = /content-length: (\d+)/i.exec(head) ?? [];
      const end = headEnd + HEAD_END.length + Number(length);
      if (headEnd === -1 || data.length < end) {
        rest = data;
        return;
      }
      const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/1.1'));
      count(head, path, data.subarray(headEnd + HEAD_END.length, end));
      answer(socket, path);
      data = data.subarray(end);
    }
  });
}

export type ReceiverCalls = Awaited<ReturnType<typeof listen>>;

async function listen() {
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: () => `http://127.0.0.1:${port}`,
    /** Counts from zero again; with `keep`, every arrival is kept. */
    reset: (keep = false) => {
      counters = { ...NONE };
      isKeeping = keep;
      kept = [];
      openPeak.clear();
    },
    counters: () => counters,
    /** Resolves when `target` POSTs have come since the reset. */
    reached: (target: number) =>
      counters.posts >= target
        ? counters.lastMs
        : new Promise<number>((resolve) => waiting.add({ count: target, resolve })),
    arrivals: () => kept,
    behave: (next: readonly Behaviour[]) => {
      behaviours = next;
    },
    /** The most requests that were open at once, for each path that does not answer at once. */
    peaks: () => [...openPeak.values()],
  };
}

/** Serves until the parent ends it. */
export async function run(): Promise<void> {
  offerCalls(await listen());
}
