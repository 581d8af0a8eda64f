/**
 * A poller's claims: gives each a name of its own, and remembers those whose commit is unknown.
 *
 * Invariant: a claim whose answer never came may have committed; nothing of it was sent, so it is released before the
 * next one is made. What is due of an inactive registration keeps its lane due until it is suspended, by whichever poller.
 */
import { leaveToCommit, type Pool, type Statement } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';
import { type Armed, armLanes, type Patience, waitForWork } from './arrivals.ts';
import { type Claimed, type ClaimedDelivery, claimDue } from './claim.ts';
import { Cleaner } from './cleaner.ts';
import { releaseClaim } from './release.ts';
import { suspendUnclaimed } from './suspend.ts';

export interface ClaimerDeps {
  readonly pool: Pool;
  readonly log: Logger;
  /** The poller's name, unique among all. */
  readonly name: string;
  readonly monotonicMs: () => number;
  /** The database's clock in tests. */
  readonly now: () => Date | null;
}

/** A claim with the monotonic time before which its lease cannot have begun. */
export interface Claim {
  readonly name: string;
  readonly startedAtMs: number;
}

export class Claimer {
  readonly #deps: ClaimerDeps;
  readonly #cleaner: Cleaner;
  #claims = 0;
  #doubtful: string[] = [];
  #suspending: Promise<void> | null = null;

  constructor(deps: ClaimerDeps) {
    this.#deps = deps;
    this.#cleaner = new Cleaner(deps);
  }

  /**
   * Waits for work as long as `patience` lasts (null: not at all), arms what arrived and claims up to `places` deliveries.
   * `more` is true when arrivals were left for another turn.
   */
  async claim(
    places: number,
    patience: Patience | null,
  ): Promise<{ claim: Claim; deliveries: ClaimedDelivery[]; more: boolean }> {
    const { pool, name, monotonicMs, now } = this.#deps;
    const claim: Claim = { name: `${name}/${(this.#claims += 1)}`, startedAtMs: monotonicMs() };
    let arming: Statement<Armed> | undefined;
    let claiming: Promise<Claimed> | undefined;
    try {
      await pool.transaction(
        (tx) => {
          claiming = claimDue(tx, claim.name, places, now());
          leaveToCommit(tx, claiming);
          return Promise.resolve();
        },
        (sql) => {
          arming = armLanes(sql, now());
          return patience === null ? [arming] : [waitForWork(sql, patience, now()), arming];
        },
      );
      const [armed] = (await arming) ?? [];
      const { deliveries, inactive } = (await claiming) as Claimed;
      if (inactive.length > 0) this.#suspending ??= this.#suspend(inactive).finally(() => (this.#suspending = null));
      this.#cleaner.count(armed?.taken ?? 0);
      return { claim, deliveries, more: armed?.more ?? false };
    } catch (error) {
      this.#doubtful.push(claim.name);
      throw error;
    }
  }

  /** Resolves when nothing is under way beside the claims. */
  async settled(): Promise<void> {
    await Promise.all([this.#suspending, this.#cleaner.settled()]);
  }

  /** Releases the claims whose commit is unknown; throws while the database is out of reach. */
  async releaseDoubtful(): Promise<void> {
    const { pool, log, now } = this.#deps;
    for (const claim of this.#doubtful) {
      const count = await pool.transaction((tx) => releaseClaim(tx, claim, now()));
      if (count > 0) log.warn({ deliveries: count }, 'released a claim whose commit was unknown');
      this.#doubtful = this.#doubtful.filter((other) => other !== claim);
    }
  }

  /** Suspends what a claim may not take. If that fails, or another batch is under way, a later claim meets it again. */
  async #suspend(inactive: readonly string[]): Promise<void> {
    const { pool, log, now } = this.#deps;
    try {
      await pool.transaction((tx) => suspendUnclaimed(tx, inactive, now()));
    } catch (error) {
      log.warn({ webhooks: inactive.length, error: (error as Error).name }, 'cannot suspend deliveries, trying again');
    }
  }
}
