/**
 * Suspends pending deliveries of inactive webhooks beside the claims. Their lanes are kept like any other and never sent. The sweep finds
 * what is left undone (left-pending.ts).
 */
import { logFailedTry } from '../../../db/outage-log.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../orders/suspend.ts';

const PAUSE_MS = 1_000;

export class Mender {
  readonly #deps: EngineDeps;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #mending: Promise<void> | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  mend(inactive: readonly string[]): void {
    if (inactive.length === 0 || this.#mending !== null) return;
    if (this.#deps.monotonicMs() < this.#pausedUntilMs) return;
    this.#mending = this.#mend(inactive).finally(() => (this.#mending = null));
  }

  async settled(): Promise<void> {
    await this.#mending;
  }

  async #mend(inactive: readonly string[]): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    try {
      while ((await pool.transaction((tx) => suspendUnclaimed(tx, inactive, now()))) === SUSPENDED_AT_ONCE);
    } catch (error) {
      this.#pausedUntilMs = monotonicMs() + PAUSE_MS;
      logFailedTry(log, error, 'cannot suspend deliveries, trying again', 'cannot suspend deliveries, trying again');
    }
  }
}
