/**
 * A poller's sign of life: its own session holds a lock under its name.
 * Invariant: a poller never sends what others may have taken over. A send starts only under the lock of its claim, on the same server, and
 * within SURE_MS after the server last confirmed the lock. Others end a claim only GRACE_MS (longer) after they first saw it without its
 * lock (queue/maintenance/dead-pollers.ts).
 * Crash: the server notices the closed connection and frees the lock. A frozen poller keeps its connection, and its claims until their
 * leases end. A new session is a new term: unsent deliveries of an earlier term are given back; sent ones are reported, late if others have
 * ended the claim. Behind a pooler there are no terms: only the lease protects claims.
 * It keeps asking, because a client may never learn that the server has dropped its connection.
 */
import { TIMES_S } from '../../contract/delivery.ts';
import type { Pool } from '../../db/pool.ts';
import { logFailedTry, restAfter } from '../../db/outage-log.ts';
import { DeadPollers, type DeadPollersDeps, GRACE_MS } from '../queue/maintenance/dead-pollers.ts';
import { endSession, type Heartbeat, readHeartbeat } from '../queue/liveness.ts';
import { Pause } from './pause.ts';
import { ACTIVE_POLLERS } from './poll-backoff.ts';

/** The lock and the server under which a claim was made. */
export interface Standing {
  /** Number of the session that holds the lock, from 1; null without a lock. */
  readonly term: number | null;
  /** Identifies the server and its start. */
  readonly server: string | null;
}

export interface Sign {
  /** The term for a claim made now; null: only the lease. Throws while the database is unreachable. */
  term(): Promise<number | null>;
  /** Whether a send of a claim may start at `atMs`, monotonic. */
  holds(standing: Standing, atMs: number): boolean;
  /** The same now, after asking the server again if needed. */
  renews(standing: Standing): Promise<boolean>;
  /** How many living pollers come before it, as last read; 0 when unknown. */
  rank(): number;
}

/** The sign of a poller without a lock. */
export const LEASE_ALONE: Sign = {
  term: async () => null,
  holds: () => true,
  renews: async () => true,
  rank: () => 0,
};

/** Shorter than GRACE_MS by more than clocks drift apart. */
const SURE_MS = GRACE_MS - 150;
const HEARTBEAT_EVERY_MS = TIMES_S.heartbeat * 1_000;
const RETRY_MS = 100;
/** In heartbeats: idle pollers share the checks; the more there are, the less often each checks (up to 8 heartbeats). */
const MIN_IDLE_HEARTBEATS = 2;
const MAX_IDLE_HEARTBEATS = 8;
/** In heartbeats, for idle pollers behind the active ones: they ask before each send, and others check for dead pollers. */
const FAR_BEHIND_HEARTBEATS = 96;
/** How often those behind the first do shared work: the first may be frozen while it holds its lock. */
const RATE_BEHIND = 1 / 6;
const RATE_FAR_BEHIND = 1 / 12;
const WHAT_IT_MEANS = `a delivery of a poller that dies waits for the end of its lease, ${TIMES_S.lease} s`;

export interface SignOfLifeDeps extends DeadPollersDeps {
  /** A pool of one connection, for this lock only. */
  readonly session: Pool;
  /** True where a pooler is known to stand before the server; otherwise it is detected. */
  readonly isPooled: boolean;
}

export class Liveness implements Sign {
  readonly #deps: SignOfLifeDeps;
  readonly #dead: DeadPollers;
  readonly #pause = new Pause();
  #stopping = false;
  #isPooled: boolean;
  #terms = 0;
  /** Null while the lock is not known to be held. */
  #term: number | null = null;
  #server: string | null = null;
  #rank = 0;
  #sureUntilMs = Number.NEGATIVE_INFINITY;
  #beating: Promise<Heartbeat | null> | null = null;

  constructor(deps: SignOfLifeDeps) {
    this.#deps = deps;
    this.#isPooled = deps.isPooled;
    this.#dead = new DeadPollers(deps);
  }

  async term(): Promise<number | null> {
    if (this.#term === null && !this.#isPooled) await this.heartbeat();
    return this.#term;
  }

  rank(): number {
    return this.#rank;
  }

  /** How often this process does shared work; 1 for the first poller. */
  rate(): number {
    if (this.#rank === 0) return 1;
    return this.#rank < ACTIVE_POLLERS ? RATE_BEHIND : RATE_FAR_BEHIND;
  }

  holds({ term, server }: Standing, atMs: number): boolean {
    if (term === null) return true;
    return term === this.#term && server === this.#server && atMs < this.#sureUntilMs;
  }

  async renews(standing: Standing): Promise<boolean> {
    const { monotonicMs, session } = this.#deps;
    if (this.holds(standing, monotonicMs())) return true;
    if (standing.term === this.#term && standing.server !== this.#server) await endSession(session);
    await this.heartbeat().catch(() => undefined);
    return this.holds(standing, monotonicMs());
  }

  /** Checks the lock and takes it if it is free. Null behind a pooler. Throws while the database is unreachable. */
  async heartbeat(): Promise<Heartbeat | null> {
    return (this.#beating ??= this.#heartbeat().finally(() => (this.#beating = null)));
  }

  async #heartbeat(): Promise<Heartbeat | null> {
    const { session, name, monotonicMs } = this.#deps;
    const askedAtMs = monotonicMs();
    const heartbeat = await readHeartbeat(session, name).catch((error: unknown) => {
      this.#term = null;
      throw error;
    });
    if (heartbeat === null) {
      this.#isPooled = true;
      return null;
    }
    if (heartbeat.isNew || this.#term === null) this.#term = this.#terms += 1;
    this.#server = heartbeat.server;
    // Some pollers before it are gone: check for what they left.
    if (heartbeat.rank < ACTIVE_POLLERS && this.#rank >= ACTIVE_POLLERS) this.#pause.end();
    this.#rank = heartbeat.rank;
    this.#sureUntilMs = askedAtMs + SURE_MS;
    return heartbeat;
  }

  /** One sign of life and one check for dead pollers. Returns the time to the next, in ms. */
  async poll(isBusy: boolean): Promise<number> {
    const heartbeat = await this.heartbeat();
    const term = this.#term;
    if (heartbeat === null || term === null) return 0;
    const dueMs = await this.#dead.look(heartbeat, term);
    const among = Math.min(Math.max(heartbeat.living / ACTIVE_POLLERS, MIN_IDLE_HEARTBEATS), MAX_IDLE_HEARTBEATS);
    const idle = heartbeat.rank < ACTIVE_POLLERS ? among : FAR_BEHIND_HEARTBEATS;
    return Math.min((isBusy ? 1 : idle) * HEARTBEAT_EVERY_MS, dueMs ?? Infinity);
  }

  async run(isBusy: () => boolean): Promise<void> {
    const { log } = this.#deps;
    while (!this.#stopping && !this.#isPooled) {
      let waitMs = RETRY_MS;
      try {
        waitMs = await this.poll(isBusy());
      } catch (error) {
        logFailedTry(log, error, 'cannot give a sign of life, sending nothing new', 'a sign of life failed');
        waitMs = restAfter(error, RETRY_MS);
      }
      if (!this.#stopping) await this.#pause.last(waitMs);
    }
    if (this.#isPooled) log.warn({}, `a pooler stands before the database: ${WHAT_IT_MEANS}`);
  }

  stop(): void {
    this.#stopping = true;
    this.#pause.end();
  }
}
