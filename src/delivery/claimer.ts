/**
 * A poller's claims: gives each a name of its own, and remembers those whose commit is unknown.
 *
 * Invariant: a claim whose answer never came may have committed, or may do so yet: the server may still be working through
 * what it was sent. Nothing of it was posted, so it is released, now and again until its rows were found or its lease
 * would be over.
 */
import type { Pool, Statement } from '../db/pool.ts';
import { leaveToCommit } from '../db/transaction.ts';
import type { Logger } from '../log-lines.ts';
import { type Armed, armLanes, type Patience, waitForWork } from './arrivals.ts';
import { type Claimed, type ClaimedDelivery, claimDue } from './claim.ts';
import { Cleaner } from './cleaner.ts';
import { DueMark } from './due-mark.ts';
import { LEASE_S } from './lease.ts';
import { Mender } from './mender.ts';
import type { Shares } from './places.ts';
import { releaseClaim } from './release.ts';

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
  /** Monotonic; the deliveries were claimed before that. */
  readonly answeredAtMs: number;
}

/** A claim that may have committed. */
interface Doubtful {
  readonly name: string;
  readonly startedAtMs: number;
  readonly triedAtMs: number;
}

const RELEASE_EVERY_MS = 1_000;

export class Claimer {
  readonly #deps: ClaimerDeps;
  readonly #cleaner: Cleaner;
  readonly #dueMark: DueMark;
  readonly #mender: Mender;
  #claims = 0;
  #doubtful: Doubtful[] = [];

  constructor(deps: ClaimerDeps) {
    this.#deps = deps;
    this.#cleaner = new Cleaner(deps);
    this.#dueMark = new DueMark(deps);
    this.#mender = new Mender(deps);
  }

  /**
   * Waits for work as long as `patience` lasts (null: not at all), arms what arrived and claims up to `places` deliveries,
   * of each partner no more than its share (null: as many as there are). `more` is true when arrivals were left for another turn.
   */
  async claim(
    places: number,
    patience: Patience | null,
    shares: Shares | null = null,
  ): Promise<{ claim: Claim; deliveries: ClaimedDelivery[]; more: boolean }> {
    const { pool, name, monotonicMs, now } = this.#deps;
    const dueFrom = this.#dueMark.get();
    const claim = { name: `${name}/${(this.#claims += 1)}`, startedAtMs: monotonicMs() };
    let arming: Statement<Armed> | undefined;
    let claiming: Promise<Claimed> | undefined;
    try {
      await pool.transaction(
        (tx) => {
          claiming = claimDue(tx, claim.name, places, now(), dueFrom, shares);
          leaveToCommit(tx, claiming);
          return Promise.resolve();
        },
        (sql) => {
          arming = armLanes(sql, now());
          return patience === null ? [arming] : [waitForWork(sql, patience, now(), dueFrom), arming];
        },
      );
      const [armed] = (await arming) ?? [];
      const { deliveries, inactive, lost } = (await claiming) as Claimed;
      this.#mender.mend(inactive, lost);
      this.#cleaner.count(armed?.taken ?? 0);
      return { claim: { ...claim, answeredAtMs: monotonicMs() }, deliveries, more: armed?.more ?? false };
    } catch (error) {
      this.#doubtful.push({ ...claim, triedAtMs: -Infinity });
      throw error;
    }
  }

  /** Resolves when nothing is under way beside the claims. */
  async settled(): Promise<void> {
    await Promise.all([this.#mender.settled(), this.#cleaner.settled(), this.#dueMark.settled()]);
  }

  /** Releases the claims whose commit is unknown; throws while the database is out of reach. */
  async releaseDoubtful(everyMs = RELEASE_EVERY_MS): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    for (const claim of this.#doubtful) {
      const triedAtMs = monotonicMs();
      if (triedAtMs - claim.triedAtMs < everyMs) continue;
      const count = await pool.transaction((tx) => releaseClaim(tx, claim.name, now()));
      if (count > 0) log.warn({ deliveries: count }, 'released a claim whose commit was unknown');
      const isOver = count > 0 || triedAtMs - claim.startedAtMs > LEASE_S * 1_000;
      this.#doubtful = this.#doubtful.flatMap((other) => {
        if (other.name !== claim.name) return [other];
        return isOver ? [] : [{ ...claim, triedAtMs }];
      });
    }
  }
}
