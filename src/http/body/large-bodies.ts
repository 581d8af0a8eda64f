/**
 * A semaphore for requests with a large body: only a few are read, parsed and handled at a time.
 *
 * Invariant: a body without a turn is not read, so TCP stops its sender, and the process buffers at most one socket's worth of
 * it. A partner waits for one of its own turns before it joins the queue of all partners.
 *
 * Alternative: without turns, thirty bodies of 53 MiB took 2.2 to 2.5 GB and blocked `/healthz` for 10 s; with turns 0.8 GB and
 * 1 s.
 */
import pLimit, { type LimitFunction } from 'p-limit';
import { unavailable } from '../api-error.ts';
import type { Pace } from './body-stream.ts';

/** Over all partners; one of 53 MiB takes up to 400 MiB on its way into the database. */
const AT_ONCE = 8;
const OF_ONE_PARTNER = 2;
/** Less than a client waits for an answer. */
const LONGEST_WAIT_MS = 30_000;

/** A sender that has stalled or gone keeps its turn no longer than the grace. */
export const LARGE_BODY_PACE: Pace = { graceMs: 10_000, bytesPerS: 64 * 1024 };

/** Runs `work`, the reading of a large body and what follows, when it is its turn. Throws 503 when that takes too long. */
export type Acquire = <T>(partnerId: string, work: () => Promise<T>) => Promise<T>;

/** The turns of one process. `longestWaitMs` is how long a request waits for one. */
export function createSemaphore(longestWaitMs = LONGEST_WAIT_MS): Acquire {
  const all = pLimit(AT_ONCE);
  const partners = new Map<string, LimitFunction>();
  return async (partnerId, work) => {
    const own = partners.get(partnerId) ?? pLimit(OF_ONE_PARTNER);
    partners.set(partnerId, own);
    const { promise: permit, resolve: grant, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(unavailable(new Error('no turn for a large body'))), longestWaitMs);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    void own(() =>
      all(() => {
        grant();
        return over;
      }),
    );
    try {
      await permit;
      return await work();
    } finally {
      clearTimeout(timer);
      end();
    }
  };
}
