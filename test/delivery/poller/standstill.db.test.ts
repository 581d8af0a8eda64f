/** Real pollers beside a backlog: while slots are free and deliveries are due, they do not wait. */
import { expect, test } from 'vitest';
import { Poller } from '../../../src/delivery/poller/poller.ts';
import type { PollWait } from '../../../src/delivery/queue/claim.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { useEmptyDatabase } from '../../support/one-webhook.ts';
import { commitEvents, insertPartner, insertWebhook, openTestSecret } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';
import { openPool } from '../../support/database.ts';

const WEBHOOKS = 100;
const DELIVERIES = 6_000;
/**
 * So many turns in a row of every poller may come to nothing while nothing is in flight: the slots that came free are about to
 * wake the lanes. Pollers that are kept from a backlog for 100 ms take more, on any machine.
 */
const EMPTY_TURNS = 5;

const { sql, url } = await useEmptyDatabase();

/** What the pollers of a test do together. */
class Watch {
  sent = 0;
  pollers: WatchedPoller[] = [];
  /** The longest standstill, in turns of the poller that took the fewest: one of them may be at work on all lanes. */
  longest = 0;

  get standsStill(): boolean {
    return this.sent < DELIVERIES && this.pollers.every(({ held }) => held === 0);
  }

  judge(): void {
    this.longest = Math.max(this.longest, Math.min(...this.pollers.map(({ empty }) => empty)));
  }

  /** A claim ends the standstill for all: a poller whose turn is still under way would keep what it counted before. */
  end(): void {
    for (const poller of this.pollers) poller.empty = 0;
  }
}

class WatchedPoller extends Poller {
  readonly #watch: Watch;
  /** Turns in a row that came to nothing while nothing was in flight. */
  empty = 0;

  constructor(watch: Watch, deps: ConstructorParameters<typeof Poller>[0]) {
    super(deps);
    this.#watch = watch;
  }

  override async tick(pollWait: PollWait | null = null): Promise<number> {
    const stoodStill = this.#watch.standsStill;
    const claimed = await super.tick(pollWait);
    this.empty = claimed === 0 && stoodStill && this.#watch.standsStill ? this.empty + 1 : 0;
    if (claimed > 0) this.#watch.end();
    this.#watch.judge();
    return claimed;
  }
}

test.for([
  { pollers: 1, partners: 5, delayMs: 0 },
  { pollers: 2, partners: 5, delayMs: 0 },
  { pollers: 1, partners: 5, delayMs: 20 },
  { pollers: 2, partners: 100, delayMs: 0 },
])(
  'are never idle: $pollers for $partners partners, whose receivers take $delayMs ms',
  async ({ pollers, partners, delayMs }) => {
    const watch = new Watch();
    const pools = Array.from({ length: pollers }, () => openPool(url, { name: 'poller', max: 3 }));
    watch.pollers = pools.map(
      (pool, index) =>
        new WatchedPoller(watch, {
          pool,
          name: `p${index}`,
          capacity: 512,
          log: silentLog,
          openSecret: openTestSecret,
          monotonicMs: () => performance.now(),
          sender: {
            async send() {
              watch.sent += 1;
              if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
              return DELIVERED;
            },
          },
        }),
    );
    for (let partner = 0; partner < partners; partner += 1) {
      const id = await insertPartner(sql);
      for (let webhook = 0; webhook < WEBHOOKS / partners; webhook += 1) {
        await insertWebhook(sql, id, 'https://partner.example/');
      }
      await commitEvents(sql, id, DELIVERIES / WEBHOOKS);
    }
    const running = watch.pollers.map((poller) => poller.run());
    while (watch.sent < DELIVERIES) await new Promise((resolve) => setTimeout(resolve, 5));
    await Promise.all(watch.pollers.map((poller) => poller.drain()));
    await Promise.all([...running, ...pools.map((pool) => pool.close())]);
    expect(watch.longest).toBeLessThanOrEqual(EMPTY_TURNS);
    expect(await sql`select from deliveries where status <> 'entregue'`).toHaveLength(0);
  },
);
