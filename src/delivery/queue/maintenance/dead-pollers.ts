/**
 * Dead pollers: each living poller holds a lock under its name (sign_of_life.sql). A keeper without its lock is ended after a grace: its
 * lanes are freed, its claims are lost.
 * Invariant: a poller is ended only after this one saw it without its lock for GRACE_MS, by its own monotonic clock. By then it starts no
 * send (poller/liveness.ts). A poller ends others only where its own lock is, so never on another server.
 * Crash: the next process starts counting again. After a start or promotion of the server, or when this poller's session was ended too, all
 * pollers get START_GRACE_MS to return.
 * Every poller watches, without an election: a frozen watcher would see nothing.
 */
import { TIMES_S } from '../../../contract/delivery.ts';
import type { Tx } from '../../../db/pool.ts';
import type { EngineDeps } from '../engine-deps.ts';
import type { Heartbeat } from '../liveness.ts';

/** Longer than a living poller needs to regain its lock after a connection reset. */
export const GRACE_MS = TIMES_S.deadAfter * 1_000;
/** Longer than pollers need to reconnect to a restarted or promoted server. */
const START_GRACE_MS = 15_000;

interface Ended {
  readonly freed: number;
  readonly lost: number;
}

/** Ends a dead poller, or only frees its lanes; does nothing while another process is doing so. */
export async function endPoller(tx: Tx, poller: string, hasClaims: boolean): Promise<Ended> {
  const [ended] = await tx<[Ended]>`select * from end_poller(${poller}, ${hasClaims})`;
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
  #graceUntilMs = Number.NEGATIVE_INFINITY;
  /** Monotonic; when each keeper was first seen without its lock. */
  #seenAtMs = new Map<string, number>();

  constructor(deps: DeadPollersDeps) {
    this.#deps = deps;
  }

  /** Ends the pollers that this poller's heartbeats in `term` have shown dead for the grace. Returns the ms until the next may be ended; null: none. */
  async look(heartbeat: Heartbeat, term: number): Promise<number | null> {
    const { monotonicMs } = this.#deps;
    // Read after the answer: each had lost its lock before this.
    const answeredAtMs = monotonicMs();
    if (term !== this.#term || heartbeat.server !== this.#server) this.#beginAnew(heartbeat, term, answeredAtMs);
    if (heartbeat.server === null || answeredAtMs < this.#graceUntilMs) return null;
    const first = this.#seenAtMs;
    this.#seenAtMs = new Map(heartbeat.orphans.map((poller) => [poller, first.get(poller) ?? answeredAtMs]));
    const oldestMs = answeredAtMs - GRACE_MS;
    for (const [poller, seenAtMs] of this.#seenAtMs) if (seenAtMs <= oldestMs) await this.#end(poller);
    const waiting = [...this.#seenAtMs.values()].filter((seenAtMs) => seenAtMs > oldestMs);
    return waiting.length === 0 ? null : Math.max(0, Math.min(...waiting) + GRACE_MS - monotonicMs());
  }

  #beginAnew(heartbeat: Heartbeat, term: number, atMs: number): void {
    // On a server that has run for long, all its pollers are already there; after a recent start, some may still return.
    const ageMs = this.#term === null ? Math.max(0, heartbeat.serverAgeMs) : 0;
    this.#term = term;
    this.#server = heartbeat.server;
    this.#seenAtMs.clear();
    this.#graceUntilMs = atMs + START_GRACE_MS - Math.min(ageMs, START_GRACE_MS);
  }

  async #end(poller: string): Promise<void> {
    const { pool, log, name } = this.#deps;
    const [ended] = await pool.transaction(
      (tx) => tx<Ended[]>`
        select ended.*
        from (select from living_pollers() where number = poller_number(${name}) limit 1) own
        cross join lateral end_poller(${poller}, true) ended`,
    );
    if (ended === undefined || ended.freed + ended.lost === 0) return;
    log.warn(
      { poller, lanes: ended.freed, deliveries: ended.lost },
      'a poller is gone: its lanes are free, and what it sent is desconhecido',
    );
  }
}
