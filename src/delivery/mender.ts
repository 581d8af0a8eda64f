/**
 * The mender: what a claim finds on its lanes and does not take is put right beside the claims. Deliveries of inactive
 * registrations are suspended, claims whose leases are over are ended.
 *
 * Invariant: whatever is left undone, by a crash, a failure, or because something is being mended already, is found again:
 * it keeps its lane due, or, while the lane is saturated, is found when a place comes free. What is lost comes first, and
 * each is done on its own: that a suspension takes too long, as in a long index of dead entries, must not keep what is lost
 * from being sent.
 */
import type { Pool, Tx } from '../db/pool.ts';
import { logFailedTry } from '../db/unavailable.ts';
import type { Logger } from '../log-lines.ts';
import { endLostClaims } from './lost.ts';
import { suspendUnclaimed } from './suspend.ts';

/** So long after a failure the next claim may bring work again. */
const PAUSE_MS = 1_000;

export interface MenderDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly monotonicMs: () => number;
  /** The database's clock in tests. */
  readonly now: () => Date | null;
}

export class Mender {
  readonly #deps: MenderDeps;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #mending: Promise<void> | null = null;

  constructor(deps: MenderDeps) {
    this.#deps = deps;
  }

  /** Suspends what is due of these `inactive` registrations, and ends the claims on these deliveries that were `lost`. */
  mend(inactive: readonly string[], lost: readonly string[]): void {
    if (inactive.length + lost.length === 0 || this.#mending !== null) return;
    if (this.#deps.monotonicMs() < this.#pausedUntilMs) return;
    this.#mending = this.#mend(inactive, lost).finally(() => (this.#mending = null));
  }

  /** Resolves when nothing is being mended. */
  async settled(): Promise<void> {
    await this.#mending;
  }

  async #mend(inactive: readonly string[], lost: readonly string[]): Promise<void> {
    const { now } = this.#deps;
    if (lost.length > 0) await this.#try('end lost claims', (tx) => endLostClaims(tx, lost, now()));
    if (inactive.length > 0) await this.#try('suspend deliveries', (tx) => suspendUnclaimed(tx, inactive, now()));
  }

  async #try(what: string, work: (tx: Tx) => Promise<unknown>): Promise<void> {
    const { pool, log, monotonicMs } = this.#deps;
    try {
      await pool.transaction(work);
    } catch (error) {
      this.#pausedUntilMs = monotonicMs() + PAUSE_MS;
      logFailedTry(log, error, `cannot ${what}, trying again`, `cannot ${what}, trying again`);
    }
  }
}
