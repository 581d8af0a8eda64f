/** A poller for tests, driven by hand: `tick()`, an injected clock for what is due, real sockets. */
import { randomBytes } from 'node:crypto';
import type { Pool } from '../../src/db/pool.ts';
import { Poller, type PollerDeps } from '../../src/delivery/poller/poller.ts';
import { createSender } from '../../src/delivery/sending/send.ts';
import { openTestSecret } from './outbox.ts';
import { endOf } from './ends.ts';
import { silentLog } from './silent-log.ts';

export interface TestEngine {
  readonly poller: Poller;
  /** The time that the engine uses for the database's clock. */
  now: Date;
  /** Makes one turn, or a second one when the first takes nothing: it may have learned what has changed. Waits until all of it is recorded. */
  poll(): Promise<number>;
  close(): Promise<void>;
}

/** `deps` replaces parts of the poller's; the clock starts a second from now, when everything committed is due. */
export function startEngine(pool: Pool, deps: Partial<PollerDeps> = {}): TestEngine {
  let apartMs = 0;
  const { monotonicMs = () => performance.now() + apartMs } = deps;
  const sender = createSender({ allowInsecure: true, timeoutMs: 60_000, now: monotonicMs });
  const engine: TestEngine = {
    now: new Date(Date.now() + 1_000),
    poller: new Poller({
      pool,
      sender,
      openSecret: openTestSecret,
      log: silentLog,
      name: `test-${randomBytes(3).toString('hex')}`,
      capacity: 64,
      now: () => engine.now,
      ...deps,
      monotonicMs,
    }),
    async poll() {
      // Long enough after the last one for a look at which lanes are free.
      apartMs += 1_000;
      const claimed = (await engine.poller.tick()) || (await engine.poller.tick());
      await engine.poller.settled();
      return claimed;
    },
    close: endOf(async () => {
      await engine.poller.drain();
      await sender.close();
    }),
  };
  return engine;
}

/** Moves the engine's clock. */
export function advance(engine: TestEngine, seconds: number): void {
  engine.now = new Date(engine.now.getTime() + seconds * 1_000);
}
