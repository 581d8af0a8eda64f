/** The wait for a record of this very process, by which lanes that are full of their own deliveries get room: no look at the server tells of it. */
import type { Pause } from './pause.ts';

const RECORD_MS = 5;
/** Without a record for so long the server may tell of more. */
const FRESHLY_MS = 200;

export class OwnRecords {
  #freedAtMs = Number.NEGATIVE_INFINITY;
  #freed = false;

  /** Slots came free. */
  hear(atMs: number): void {
    this.#freed = true;
    this.#freedAtMs = atMs;
  }

  /** Waits for the next slots that come free, a moment at most, and not at all where none have come free for long. */
  async next(idle: Pause, isStopping: () => boolean, monotonicMs: () => number): Promise<void> {
    if (monotonicMs() - this.#freedAtMs >= FRESHLY_MS) return;
    this.#freed = false;
    await idle.until(() => isStopping() || this.#freed, RECORD_MS, monotonicMs);
  }
}
