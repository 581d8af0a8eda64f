/** A poller driven by hand, on one clock, whose POSTs stay in flight until they are answered here. */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Pool } from '../../src/db/pool.ts';
import type { Sign } from '../../src/delivery/poller/liveness.ts';
import { Poller } from '../../src/delivery/poller/poller.ts';
import type { SendResult } from '../../src/delivery/sending/send.ts';
import { DELIVERED } from './delivered.ts';
import { openTestSecret } from './outbox.ts';
import { silentLog } from './silent-log.ts';

/** The sender's result for a POST without an answer. */
export const SILENCE: SendResult = { ...DELIVERED, outcome: 'tempo_esgotado', statusCode: null };

export type HeldPoller = ReturnType<typeof startHeldPoller>;

export function startHeldPoller(pool: Pool, name: string, capacity: number, startMs: number, sign?: Sign) {
  let nowMs = startMs;
  const posts = new Set<{ readonly url: string; readonly end: (result: SendResult) => void }>();
  const poller = new Poller({
    pool,
    name,
    capacity,
    openSecret: openTestSecret,
    log: silentLog,
    ...(sign !== undefined && { sign }),
    monotonicMs: () => nowMs - startMs,
    now: () => new Date(nowMs),
    sender: {
      send({ url }) {
        const { promise, resolve } = Promise.withResolvers<SendResult>();
        const post = { url, end: (result: SendResult) => (posts.delete(post), resolve(result)) };
        posts.add(post);
        return promise;
      },
    },
  });
  const to = (url: string) => [...posts].filter((post) => post.url.startsWith(url));
  const tick = async (atS = (nowMs - startMs) / 1_000) => {
    nowMs = startMs + atS * 1_000;
    const claimed = (await poller.tick()) || (await poller.tick());
    while (posts.size < poller.held) await nextTick();
    return claimed;
  };
  return {
    /** One turn, or two if the first takes nothing: it may have learned what has changed. `atS` seconds after the start; returns how many it claimed. */
    tick,
    /** Ticks until nothing is claimed. */
    async fill(atS?: number) {
      while ((await tick(atS)) > 0);
    },
    /** How many POSTs to URLs that begin with `url` are in flight. */
    flying: (url = '') => to(url).length,
    /** Answers these POSTs, or the first of them, and waits for the record. */
    async end(result: SendResult, url = '', count = Infinity) {
      for (const post of to(url).slice(0, count)) post.end(result);
      while (poller.held > posts.size) await nextTick();
    },
    /** The same of all but the first. */
    async endButFirst(result: SendResult) {
      for (const post of [...posts].slice(1)) post.end(result);
      while (poller.held > posts.size) await nextTick();
    },
    /** Ends it as a drain does: what is in flight must be answered. */
    drain: () => poller.drain(),
  };
}
