/**
 * The mender works beside the claims on two kinds of deliveries that a claim finds and does not take: it suspends those of
 * inactive webhooks, and ends claims whose leases are over.
 *
 * Invariant: work that is left undone (by a crash, a failure, or because the mender is busy) is found again: it keeps its
 * lane due; if the lane is saturated, it is found when a slot is freed. Lost claims come first, in a transaction of their
 * own, so that a slow suspension does not delay them.
 */
import type { Tx } from '../../../db/pool.ts';
import { logFailedTry } from '../../../db/outage-log.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { endLostClaims } from '../lost.ts';
import { suspendUnclaimed } from '../orders/suspend.ts';

/** How long the mender rests after a failure. */
const PAUSE_MS = 1_000;

export class Mender {
  readonly #deps: EngineDeps;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #mending: Promise<void> | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** Suspends what is due of these `inactive` webhooks, and ends the claims on these deliveries that were `lost`. */
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
