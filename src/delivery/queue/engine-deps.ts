import type { Pool } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';

export interface EngineDeps {
  /** A pool of the poller's own, with the settings of poller/session.ts. */
  readonly pool: Pool;
  readonly log: Logger;
  /** Monotonic milliseconds; for durations only. */
  readonly monotonicMs: () => number;
  /** Replaces the database's clock in tests; null: the database's own. */
  readonly now: () => Date | null;
}
