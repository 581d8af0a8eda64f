/**
 * The cleaner: takes dead rows out of `arrivals` and `lanes`, whose rows live for milliseconds.
 *
 * Autovacuum looks once a minute by default; at 9,000 deliveries a second both tables grew to 107 MiB in between. VACUUM reads
 * both tables in full, so it runs once per (table size ÷ {@link ROW_BYTES} ÷ 4) arrivals; that bounds its cost per arrival,
 * also while a held snapshot keeps it from removing anything. Without the ÷ 4 the tables grew at every pass. It never waits
 * for a lock. A failed pass is made up for by the next one, or by autovacuum.
 */
import { logFailedTry } from '../../../db/outage-log.ts';
import type { EngineDeps } from '../engine-deps.ts';

const AT_LEAST = 20_000;
/** One row of `arrivals`, the smaller of the two, with its line pointer. */
const ROW_BYTES = 100;
const PART = 1 / 4;

type CleanerDeps = Pick<EngineDeps, 'pool' | 'log'>;

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
      logFailedTry(log, error, 'cannot take away dead wake rows, autovacuum will');
    }
  }
}
