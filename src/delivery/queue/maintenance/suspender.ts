/**
 * Suspends pending deliveries of inactive webhooks beside the claims. Their lanes are kept like any other and never sent.
 * Invariant: a webhook waits here until its pending deliveries are suspended. Crash: the sweep finds what is left.
 */
import { logFailedTry } from '../../../db/outage-log.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../orders/suspend.ts';

const PAUSE_MS = 1_000;

export class Suspender {
  readonly #deps: EngineDeps;
  #inactive = new Set<string>();
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #suspending: Promise<void> | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** Suspends those of these webhooks, and of the ones that still wait. */
  suspend(inactive: readonly string[] = []): void {
    for (const id of inactive) this.#inactive.add(id);
    if (this.#suspending !== null || this.#deps.monotonicMs() < this.#pausedUntilMs) return;
    this.#suspending = this.#suspend().finally(() => (this.#suspending = null));
  }

  async settled(): Promise<void> {
    await this.#suspending;
  }

  async #suspend(): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    while (this.#inactive.size > 0) {
      const ids = [...this.#inactive];
      this.#inactive.clear();
      try {
        while ((await pool.transaction((tx) => suspendUnclaimed(tx, ids, now()))) === SUSPENDED_AT_ONCE);
      } catch (error) {
        for (const id of ids) this.#inactive.add(id);
        this.#pausedUntilMs = monotonicMs() + PAUSE_MS;
        logFailedTry(log, error, 'cannot suspend deliveries, trying again', 'cannot suspend deliveries, trying again');
        return;
      }
    }
  }
}
