/**
 * One POST, one outcome.
 * Invariant: `send` resolves within its deadline, and nothing of the request is written afterwards. One deadline covers name, connect, TLS,
 * request and headers: the client's own time-outs miss a flood of 1xx answers and a dripping body. The final status line and headers decide
 * the outcome; the rest is read briefly, for the record.
 * If a connection that had served before breaks before the first byte of an answer, the POST is repeated once, on a new connection, within
 * the same attempt and deadline. Otherwise every idle time-out of a receiver would cost a slot of the schedule. At worst the receiver sees
 * the delivery twice, with the same `X-Webhook-Delivery`.
 * Crash: the attempt's claim tells the next poller that a POST may have left.
 */
import { MAX_READ_BYTES, TIMES_S } from '../../contract/delivery.ts';
import { Attempt, type Shared } from './attempt.ts';
import type { Certificate, Destination, SendRequest, SendResult } from './exchange.ts';
import { Connections } from './connections.ts';
import { type Send, sendWith } from './credentials.ts';
import { guardedConnector, type GuardOptions } from '../target/guard.ts';
import { parseTarget } from '../target/parse-target.ts';
import { BoundedCache } from '../target/bounded-cache.ts';
import { MAX_TOKEN_ANSWER_BYTES, TOKEN_MS, Tokens } from './tokens.ts';
import { UnendedBytes } from './unended-bytes.ts';

export { bodyOf } from './answer.ts';
export type { SendRequest, SendResult } from './exchange.ts';

/** How long an attempt waits for the rest of its answer. */
const READ_MS = 250;
/** For token requests: a partial token is useless. */
const OF_TOKENS = {
  timeoutMs: TOKEN_MS,
  readMs: TOKEN_MS,
  keptBytes: MAX_TOKEN_ANSWER_BYTES,
  readBytes: MAX_TOKEN_ANSWER_BYTES,
};
/** Resolution of the deadline. */
const TICK_MS = 50;

export interface SenderOptions extends GuardOptions {
  readonly timeoutMs?: number;
  /** Replaces the usual time that an unused connection is kept, in ms. */
  readonly keepsMs?: number;
  /** Bytes kept of an answer's body, up to {@link MAX_READ_BYTES}; with 0 nothing of an answer is kept. */
  readonly keptBytes?: number;
  /** Monotonic, in milliseconds. */
  readonly now?: () => number;
}

export interface Sender {
  /**
   * Sends one POST. Resolves to what the network and the receiver did; throws or rejects only for a fault of ours. Deadline and duration
   * count from `startedAtMs` on the sender's clock, by default from now.
   */
  send(request: SendRequest, startedAtMs?: number): Promise<SendResult>;
  /** Waits for the attempts in flight, then closes every connection. */
  close(): Promise<void>;
}

/** A URL's destination, or the rule that refuses it; cached, because parsing for each POST is measurable. */
function rememberTargets(allowInsecure: boolean): (url: string) => Destination | string {
  const known = new BoundedCache<Destination | string>(10_000);
  return (text) =>
    known.get(text, () => {
      const target = parseTarget(text, { allowInsecure });
      return 'refused' in target ? target.refused : destinationOf(new URL(target.url));
    });
}

/** The path is cut from `href`, because `search` would be empty for `/a?`. */
function destinationOf({ origin, href }: URL): Destination {
  return { place: { origin, certificate: null, key: origin }, path: href.slice(origin.length) };
}

/** The same place with the webhook's own certificate. */
function shownTo({ place: { origin }, path }: Destination, certificate: Certificate): Destination {
  return { place: { origin, certificate, key: `${origin} ${certificate.id}` }, path };
}

function refusedTarget(rule: string): SendResult {
  const error = `DESTINO_RECUSADO: a URL ${rule}`;
  return { outcome: 'destino_recusado', statusCode: null, durationMs: 0, address: null, error, answer: null };
}

/** `timeoutMs` is the deadline of each attempt. */
export function createSender(options: SenderOptions): Sender {
  const { allowInsecure, timeoutMs = TIMES_S.response * 1_000, keptBytes = MAX_READ_BYTES } = options;
  const { now = () => performance.now() } = options;
  const underWay = new Set<Attempt>();
  const targetOf = rememberTargets(allowInsecure);
  const connections = new Connections(guardedConnector(options), now, options.keepsMs);
  const unended = new UnendedBytes();
  const bounds = { timeoutMs, keptBytes, readMs: READ_MS, readBytes: MAX_READ_BYTES };
  const shared: Shared = { connections, ...bounds, now, underWay, unended, quiet: { on: null } };
  const tokens = new Tokens((request) => begin({ ...shared, ...OF_TOKENS }, request, now(), null), now);
  let isClosed = false;

  // Runs only while something is under way or drains; otherwise it would wake an idle process 20 times a second.
  let ticker: NodeJS.Timeout | undefined;
  function tick(): void {
    const atMs = now();
    for (const attempt of underWay) attempt.checkTime(atMs);
    const isDraining = connections.endDrained(atMs);
    if (underWay.size > 0 || isDraining) return;
    clearInterval(ticker);
    ticker = undefined;
  }

  function begin(bounded: Shared, request: SendRequest, startedAtMs: number, certificate: Certificate | null) {
    const target = targetOf(request.url);
    if (typeof target === 'string') return Promise.resolve(refusedTarget(target));
    ticker ??= setInterval(tick, TICK_MS).unref();
    const destination = certificate === null ? target : shownTo(target, certificate);
    return new Attempt(bounded, destination, request, startedAtMs).result;
  }

  return {
    send(request, startedAtMs = now()) {
      if (isClosed) return Promise.reject(new Error('the sender is closed'));
      const { credentials } = request;
      if (credentials === undefined) return begin(shared, request, startedAtMs, null);
      const send: Send = (...given) => begin(shared, ...given);
      return sendWith(credentials, request, startedAtMs, { send, tokens, now });
    },
    async close() {
      isClosed = true;
      if (underWay.size > 0) {
        await new Promise<void>((resolve) => (shared.quiet.on = resolve));
      }
      clearInterval(ticker);
      await connections.close();
    },
  };
}
