/**
 * Waits for this process's own records, which free slots of full lanes: the server's check for work does not see those. It is told only of
 * records of full lanes: with those of others, one hanging lane would delay each poll by {@link RECORD_MS}.
 */
import type { Pause } from './pause.ts';

const RECORD_MS = 5;
/** After this long without a record the server may be asked instead. */
const FRESHLY_MS = 200;

export class OwnRecords {
  #freedAtMs = Number.NEGATIVE_INFINITY;
  #freed = false;

  observe(atMs: number): void {
    this.#freed = true;
    this.#freedAtMs = atMs;
  }

  /** Waits briefly for the next freed slots; returns at once when none was freed for long. */
  async next(idle: Pause, isStopping: () => boolean, monotonicMs: () => number): Promise<void> {
    if (monotonicMs() - this.#freedAtMs >= FRESHLY_MS) return;
    this.#freed = false;
    await idle.until(() => isStopping() || this.#freed, RECORD_MS, monotonicMs);
  }
}
