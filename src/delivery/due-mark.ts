/**
 * The time before which no lane is due: where claims begin to look.
 *
 * Invariant: no lane that can be seen, be it locked, is due before the mark, nor will one be that a transaction makes due
 * which has begun and cannot be seen yet: such a time is never before that transaction began.
 * Crash: the mark is lost with its process, and the claims of the next one begin at the very first lane until they know
 * one.
 * Every now and then it is read from the very first lane on, whatever a clock, a failover or an operator may have done:
 * beside the claims, which go by the old one meanwhile.
 * Why: a lane leaves a dead index entry at each time at which it was due, and nothing removes them while a snapshot is held
 * open. Kept in the session and made anew by each claim, the mark cost each of them 0.2 ms.
 */
import type { Pool, Tx } from '../db/pool.ts';
import { codeOf } from '../db/unavailable.ts';
import type { Logger } from '../log-lines.ts';

/** The mark of whoever knows nothing. */
export const DUE_FROM_EVER = '-infinity';

/** Longer than a transaction that sets when lanes are due may take, by the server's own deadlines. */
const UNSEEN_S = 10;
const RENEW_MS = 1_000;
/** So often all lanes are looked at. */
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

export interface DueMarkDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly monotonicMs: () => number;
  /** The database's clock in tests; at times that they choose nothing is known. */
  readonly now: () => Date | null;
}

export class DueMark {
  readonly #deps: DueMarkDeps;
  #at = DUE_FROM_EVER;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #lookedAtAllMs = Number.NEGATIVE_INFINITY;
  #renewal: Promise<void> | null = null;

  constructor(deps: DueMarkDeps) {
    this.#deps = deps;
  }

  /** The mark, a time of the database as text. Renews it beside the caller when it is time. */
  get(): string {
    const { monotonicMs, now } = this.#deps;
    if (now() !== null) return DUE_FROM_EVER;
    const atMs = monotonicMs();
    if (atMs - this.#renewedAtMs >= RENEW_MS && this.#renewal === null) {
      this.#renewedAtMs = atMs;
      this.#renewal = this.#renew(atMs).finally(() => (this.#renewal = null));
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
      log.warn({ code: codeOf(error) }, 'cannot read when lanes are due, looking at all of them');
    }
  }
}
