/**
 * Dead pollers: each living poller holds a lock under its name (sign_of_life.sql). A keeper without its lock is ended
 * after a grace: its lanes are freed, its claims are lost.
 * Invariant: a poller is ended only after this one saw it without its lock for GRACE_MS, by its own monotonic clock. By then it starts no
 * send (poller/sign-of-life.ts). A poller judges others only where it sees its own lock among theirs, so never on another server.
 * Crash: the next process starts counting again. After a start or promotion of the server, or when this poller's session was ended too, all
 * pollers get START_GRACE_MS to return.
 * No elected watcher: while it is frozen, nobody would look.
 */
import { TIMES_S } from '../../../contract/delivery.ts';
import type { Tx } from '../../../db/pool.ts';
import type { EngineDeps } from '../engine-deps.ts';
import type { Pulse } from '../sign-of-life.ts';

/** Longer than a living poller needs to regain its lock after a connection reset. */
export const GRACE_MS = TIMES_S.deadAfter * 1_000;
/** Longer than pollers need to reconnect to a restarted or promoted server. */
const START_GRACE_MS = 15_000;
/** Keepers are read this often even when no lock has gone. A poller behind n others reads n + 1 times as seldom. */
export const LOOK_EVERY_MS = 10_000;
/** After a lock has gone, keepers are read continually for this long. */
const SETTLE_MS = 10_000;

/** Keepers without their lock; none where the poller `name` has no lock itself. */
async function readOrphans(tx: Tx, name: string): Promise<readonly { readonly poller: string }[]> {
  return tx<{ poller: string }[]>`
    with living as materialized (
      select array_agg(number) as numbers from living_pollers()
    )
    select known.name as poller
    from living, keepers known
    where known.has_lock and poller_number(${name}) = any (living.numbers) and poller_number(known.name) <> all (living.numbers)`;
}

/** Ends a dead poller, or only frees its lanes; null: another process is doing so. */
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
  readonly name: string;
}

export class DeadPollers {
  readonly #deps: DeadPollersDeps;
  #server: string | null = null;
  /** The term of this poller's own lock; null at first. */
  #term: number | null = null;
  #living: readonly number[] = [];
  #graceUntilMs = Number.NEGATIVE_INFINITY;
  #lookUntilMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic; when each keeper was first seen without its lock. */
  #seenAtMs = new Map<string, number>();

  constructor(deps: DeadPollersDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the living pollers from this poller's own pulse in `term`, and ends those that have been dead for the grace. Returns the ms until
   * the next may be ended; null: none.
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
    // Read after the answer: each had lost its lock before this.
    const answeredAtMs = monotonicMs();
    const first = this.#seenAtMs;
    this.#seenAtMs = new Map(held.map(({ poller }) => [poller, first.get(poller) ?? answeredAtMs]));
    const oldestMs = startedAtMs - GRACE_MS;
    for (const { poller } of held)
      if ((this.#seenAtMs.get(poller) ?? answeredAtMs) <= oldestMs) await this.#end(poller);
    const waiting = [...this.#seenAtMs.values()].filter((seenAtMs) => seenAtMs > oldestMs);
    return waiting.length === 0 ? null : Math.max(0, Math.min(...waiting) + GRACE_MS - monotonicMs());
  }

  /** Pollers behind others look less often: with every poller at every beat, 16 of them spent more on this than on claims. */
  #isTimeToLook(atMs: number, rank: number): boolean {
    const agoMs = atMs - this.#lookedAtMs;
    if (agoMs >= LOOK_EVERY_MS * (1 + rank)) return true;
    return this.#seenAtMs.size > 0 || (atMs < this.#lookUntilMs && agoMs >= rank * 1_000 * TIMES_S.beat);
  }

  #beginAnew(pulse: Pulse, term: number, atMs: number): void {
    // On a server that has run for long, all its pollers are already there; after a recent start, some may still return.
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
