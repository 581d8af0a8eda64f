/**
 * The cleaner: takes dead rows out of `arrivals` and `lanes`, whose rows live for milliseconds.
 *
 * Autovacuum looks once a minute by default; at 9,000 deliveries a second both tables grew to 107 MiB meanwhile. A pass
 * reads both as they are, so it is made once for a part of the arrivals that they have room for: what it costs an arrival
 * is bounded, also while a snapshot held open lets nothing be taken away. (For all that they have room for, they grew
 * with each pass by what came while it ran.) It never waits for a lock, and a pass that fails
 * is made up for by the next one, or by autovacuum.
 */
import type { Pool } from '../db/pool.ts';
import { codeOf } from '../db/unavailable.ts';
import type { Logger } from '../log-lines.ts';

const AT_LEAST = 20_000;
/** Of one row of either table, with its place on the page. */
const ROW_BYTES = 64;
const PART = 1 / 4;

export interface CleanerDeps {
  readonly pool: Pool;
  readonly log: Logger;
}

export class Cleaner {
  readonly #deps: CleanerDeps;
  #taken = 0;
  #room = AT_LEAST;
  #pass: Promise<void> | null = null;

  constructor(deps: CleanerDeps) {
    this.#deps = deps;
  }

  /** Counts arrivals that were taken, and starts a pass when there were enough. */
  count(arrivals: number): void {
    this.#taken += arrivals;
    if (this.#taken < this.#room || this.#pass !== null) return;
    this.#taken = 0;
    this.#pass = this.#clean().finally(() => (this.#pass = null));
  }

  /** Resolves when no pass is under way. */
  async settled(): Promise<void> {
    await this.#pass;
  }

  async #clean(): Promise<void> {
    const { pool, log } = this.#deps;
    try {
      const [{ bytes }] = await pool.run(
        (sql) => sql<[{ bytes: number }]>`
          select (pg_relation_size('arrivals') + pg_relation_size('lanes'))::float8 as bytes`,
      );
      this.#room = Math.max(AT_LEAST, (bytes / ROW_BYTES) * PART);
      await pool.run((sql) => sql`vacuum (truncate off, skip_locked) arrivals, lanes`);
    } catch (error) {
      log.warn({ code: codeOf(error) }, 'cannot take away dead wake rows, autovacuum will');
    }
  }
}
