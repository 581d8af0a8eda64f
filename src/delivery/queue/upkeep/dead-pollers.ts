/**
 * Dead pollers: each living poller holds a lock under its name (drizzle/functions/sign_of_life.sql). A keeper of lanes that no longer
 * holds it is ended after a grace: its lanes are free, and its claims are lost.
 *
 * Invariant: a poller is ended only after this one has seen it without its lock for GRACE_MS, by its own monotonic
 * clock. By then it starts no send: a poller starts sends only for less than GRACE_MS after its lock was
 * last confirmed (poller/sign-of-life.ts). A poller may judge others only where it sees its own lock among theirs, so
 * never on a server that is not theirs.
 * Crash: the next process starts counting again. When a server has started, was promoted, or has ended this poller's
 * session too, all pollers get START_GRACE_MS to return, and keep what they hold.
 * Why not one elected watcher: while it is frozen, nobody would look.
 */
import { TIMES_S } from '../../../contract/delivery.ts';
import type { Tx } from '../../../db/pool.ts';
import type { EngineDeps } from '../engine-deps.ts';
import type { Pulse } from '../sign-of-life.ts';

/** Longer than a living poller takes to get its lock back when its connection was reset. */
export const GRACE_MS = TIMES_S.deadAfter * 1_000;
/** Longer than pollers take to find a server again that was restarted or promoted. */
const START_GRACE_MS = 15_000;
/** Keepers are looked at this often even when no lock has gone. A poller behind n others does so n + 1 times as seldom. */
export const LOOK_EVERY_MS = 10_000;
/** They are looked at all the time for this long after a lock has gone. */
const SETTLE_MS = 10_000;

/** The keepers that have lost their lock; none where the poller `name` has no lock itself. */
async function readOrphans(tx: Tx, name: string): Promise<readonly { readonly poller: string }[]> {
  return tx<{ poller: string }[]>`
    with living as materialized (
      select array_agg(number) as numbers from living_pollers()
    )
    select known.name as poller
    from living, keepers known
    where known.has_lock and poller_number(${name}) = any (living.numbers) and poller_number(known.name) <> all (living.numbers)`;
}

/** Ends a poller that is gone, or only frees its lanes; null: another one does so at this moment. */
export async function endPoller(
  tx: Tx,
  poller: string,
  hasClaims: boolean,
): Promise<{ freed: number; lost: number } | null> {
  const [{ taken }] = await tx<
    [{ taken: boolean }]
  >`select pg_try_advisory_xact_lock(advisory_lock('ending')) as taken`;
  if (!taken) return null;
  const [ended] = await tx<[{ freed: number; lost: number }]>`select * from end_poller(${poller}, ${hasClaims})`;
  return ended;
}

export interface DeadPollersDeps extends EngineDeps {
  /** Of the poller that looks. */
  readonly name: string;
}

export class DeadPollers {
  readonly #deps: DeadPollersDeps;
  #server: string | null = null;
  /** Of this poller's own lock; null at first. */
  #term: number | null = null;
  #living: readonly number[] = [];
  #graceUntilMs = Number.NEGATIVE_INFINITY;
  #lookUntilMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time at which each keeper was first seen without a lock. */
  #seenAtMs = new Map<string, number>();

  constructor(deps: DeadPollersDeps) {
    this.#deps = deps;
  }

  /**
   * Reads which pollers live, from this poller's own sign of life in `term`, and ends those that have been dead for
   * the grace. Returns in how many milliseconds the next one may be ended; null when there is none.
   */
  async look(pulse: Pulse, term: number): Promise<number | null> {
    const { pool, monotonicMs, name } = this.#deps;
    const startedAtMs = monotonicMs();
    if (term !== this.#term || pulse.server !== this.#server) this.#beginAnew(pulse, term, startedAtMs);
    const living = new Set(pulse.living);
    if (this.#living.some((number) => !living.has(number))) this.#lookUntilMs = startedAtMs + SETTLE_MS;
    this.#living = pulse.living;
    if (pulse.server === null || startedAtMs < this.#graceUntilMs) return null;
    if (!this.#isTimeToLook(startedAtMs, pulse.rank)) return null;
    this.#lookedAtMs = startedAtMs;
    const held = await pool.run((sql) => readOrphans(sql, name));
    // Read after the answer: each of them had lost its lock before that.
    const answeredAtMs = monotonicMs();
    const first = this.#seenAtMs;
    this.#seenAtMs = new Map(held.map(({ poller }) => [poller, first.get(poller) ?? answeredAtMs]));
    const oldestMs = startedAtMs - GRACE_MS;
    for (const { poller } of held)
      if ((this.#seenAtMs.get(poller) ?? answeredAtMs) <= oldestMs) await this.#end(poller);
    const waiting = [...this.#seenAtMs.values()].filter((seenAtMs) => seenAtMs > oldestMs);
    return waiting.length === 0 ? null : Math.max(0, Math.min(...waiting) + GRACE_MS - monotonicMs());
  }

  /** Those behind others look the less often: when each looked at every beat, 16 pollers spent more on this than on claims. */
  #isTimeToLook(atMs: number, rank: number): boolean {
    const agoMs = atMs - this.#lookedAtMs;
    if (agoMs >= LOOK_EVERY_MS * (1 + rank)) return true;
    return this.#seenAtMs.size > 0 || (atMs < this.#lookUntilMs && agoMs >= rank * 1_000 * TIMES_S.beat);
  }

  /** Forgets earlier looks: they say nothing of who lives now. */
  #beginAnew(pulse: Pulse, term: number, atMs: number): void {
    // Who comes to a server that has been there for long finds its pollers there; nobody else can know who is yet to return.
    const ageMs = this.#term === null ? Math.max(0, pulse.serverAgeMs) : 0;
    this.#term = term;
    this.#server = pulse.server;
    this.#living = [];
    this.#seenAtMs.clear();
    this.#graceUntilMs = atMs + START_GRACE_MS - Math.min(ageMs, START_GRACE_MS);
    this.#lookUntilMs = this.#graceUntilMs + SETTLE_MS;
  }

  async #end(poller: string): Promise<void> {
    const { pool, log } = this.#deps;
    const ended = await pool.transaction((tx) => endPoller(tx, poller, true));
    if (ended === null || ended.freed + ended.lost === 0) return;
    log.warn(
      { poller, lanes: ended.freed, deliveries: ended.lost },
      'a poller is gone: its lanes are free, and what it sent is desconhecido',
    );
  }
}
