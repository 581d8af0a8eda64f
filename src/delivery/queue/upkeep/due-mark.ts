/**
 * The time before which no lane is due: where claims begin to look.
 *
 * Invariant: no visible lane is due before the mark. No uncommitted one will be either: a transaction sets next_due_at no
 * earlier than its own start, and the mark is at least 10 s old.
 * Crash: the mark is lost with its process. The next process begins its claims at the very first lane until it has read a
 * mark.
 * Every 30 s the mark is read again from the very first lane on, in case a clock, a failover or an operator has moved a
 * lane. That runs beside the claims, which use the old mark meanwhile.
 * Why: a lane leaves a dead index entry at each time at which it was due, and vacuum cannot remove them while a snapshot is
 * held open. We tried a mark in the session that each claim computes anew: 0.2 ms a claim.
 */
import type { Tx } from '../../../db/pool.ts';
import { logFailedTry } from '../../../db/outage-log.ts';
import type { EngineDeps } from '../engine-deps.ts';

/** The mark of whoever knows nothing. */
export const DUE_FROM_EVER = '-infinity';

/** Longer than a transaction that sets when lanes are due may take, by the server's own deadlines. */
const UNSEEN_S = 10;
const RENEW_MS = 1_000;
/** How often all lanes are looked at. */
const LOOK_AT_ALL_MS = 30_000;

/** Reads the mark anew; no lane was due before `known`. */
export async function readDueMark(sql: Tx, known: string): Promise<string> {
  const [row] = await sql<[{ mark: string }]>`
    select least(
      (select min(next_due_at) from lanes where next_due_at >= ${known}::text::timestamptz),
      now() - ${UNSEEN_S} * interval '1 second'
    )::text as mark`;
  return row.mark;
}

export class DueMark {
  readonly #deps: EngineDeps;
  #at = DUE_FROM_EVER;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #lookedAtAllMs = Number.NEGATIVE_INFINITY;
  #renewal: Promise<void> | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** The mark, a time of the database as text. Renews it beside the caller when it is time; `often` below 1 the more seldom. */
  get(often = 1): string {
    const { monotonicMs, now } = this.#deps;
    if (now() !== null) return DUE_FROM_EVER;
    const atMs = monotonicMs();
    if (atMs - this.#renewedAtMs >= RENEW_MS / often && this.#renewal === null) {
      this.#renewedAtMs = atMs;
      // Later: the caller's turn keeps the connection that it had last, with the session's memory of arrivals.
      this.#renewal = Promise.resolve()
        .then(() => this.#renew(atMs))
        .finally(() => (this.#renewal = null));
    }
    return this.#at;
  }

  /** Resolves when no renewal is under way. */
  async settled(): Promise<void> {
    await this.#renewal;
  }

  async #renew(atMs: number): Promise<void> {
    const { pool, log } = this.#deps;
    const looksAtAll = atMs - this.#lookedAtAllMs >= LOOK_AT_ALL_MS;
    const known = looksAtAll ? DUE_FROM_EVER : this.#at;
    try {
      this.#at = await pool.run((sql) => readDueMark(sql, known));
      if (looksAtAll) this.#lookedAtAllMs = atMs;
    } catch (error) {
      // Another server may answer next, with a clock of its own.
      this.#at = DUE_FROM_EVER;
      logFailedTry(log, error, 'cannot read when lanes are due, looking at all of them');
    }
  }
}
