/**
 * A poller's sign of life: a session of its own holds a lock under its name, by which others know that it lives.
 *
 * Invariant: a send starts only under the lock under which it was claimed, on the same server, and less than SURE_MS after the
 * last question to which the server answered that the poller holds the lock. Others end a claim GRACE_MS after they first saw
 * it without its lock (queue/upkeep/dead-pollers.ts), which is longer. So a poller never sends what others may have taken over.
 * Crash: the server notices the end of the connection, and the lock is gone. A frozen poller keeps its connection, and
 * so its claims, until their leases end. A new session is a new term: deliveries that were claimed in an earlier
 * term and not sent are given back; those that were sent are reported, late if others have ended the claim by then.
 * Behind a pooler a session belongs to nobody: there are no terms, and the lease alone stands.
 * Why it asks again and again: a client may never be told that its connection is gone for the server.
 */
import { TIMES_S } from '../../contract/delivery.ts';
import type { Pool } from '../../db/pool.ts';
import { logFailedTry, restAfter } from '../../db/outage-log.ts';
import { DeadPollers, type DeadPollersDeps, GRACE_MS } from '../queue/upkeep/dead-pollers.ts';
import { endSession, type Pulse, readPulse } from '../queue/sign-of-life.ts';
import { Pause } from './pause.ts';
import { LOOKERS } from './rhythm.ts';

/** The lock and the server under which a claim was made. */
export interface Standing {
  /** Which holding of the lock, from 1; null where there is none. */
  readonly term: number | null;
  /** Which start of which server it was made on. */
  readonly server: string | null;
}

export interface Sign {
  /** The term in which a claim may be made now; null: the lease alone stands. Throws while the database is out of reach. */
  term(): Promise<number | null>;
  /** Whether a send of a claim may start at `atMs`, monotonic. */
  holds(standing: Standing, atMs: number): boolean;
  /** The same now, after another question if need be. */
  renews(standing: Standing): Promise<boolean>;
  /** How many of the living pollers come before it, as it last heard; 0 where that is not known. */
  rank(): number;
}

/** Of a poller whose claims have nothing but their lease. */
export const LEASE_ALONE: Sign = {
  term: async () => null,
  holds: () => true,
  renews: async () => true,
  rank: () => 0,
};

/** Less than the others' grace by more than clocks run apart. */
const SURE_MS = GRACE_MS - 150;
const BEAT_EVERY_MS = TIMES_S.beat * 1_000;
const RETRY_MS = 100;
/** Idle pollers share the looking: the more there are, the less often each looks, between one in two beats and one in eight. */
const LEAST_IDLE_BEATS = 2;
const MOST_IDLE_BEATS = 8;
/** Idle pollers behind the lookers: they ask before they send anything, and others look for the dead. */
const FAR_BEHIND_BEATS = 96;
/** Of what all share, those behind the first do so much: it may be frozen, and hold its lock. */
const OFTEN_BEHIND = 1 / 6;
const OFTEN_FAR_BEHIND = 1 / 12;
const WHAT_IT_MEANS = `a delivery of a poller that dies waits for the end of its lease, ${TIMES_S.lease} s`;

export interface SignOfLifeDeps extends DeadPollersDeps {
  /** Of one connection, which nobody else uses. */
  readonly session: Pool;
  /** True where it is known that a pooler stands before the server; else that is found out. */
  readonly isPooled: boolean;
}

export class SignOfLife implements Sign {
  readonly #deps: SignOfLifeDeps;
  readonly #dead: DeadPollers;
  readonly #pause = new Pause();
  #stopping = false;
  #isPooled: boolean;
  #terms = 0;
  /** Null while it is not known to hold the lock. */
  #term: number | null = null;
  #server: string | null = null;
  #rank = 0;
  #sureUntilMs = Number.NEGATIVE_INFINITY;
  #beating: Promise<Pulse | null> | null = null;

  constructor(deps: SignOfLifeDeps) {
    this.#deps = deps;
    this.#isPooled = deps.isPooled;
    this.#dead = new DeadPollers(deps);
  }

  async term(): Promise<number | null> {
    if (this.#term === null && !this.#isPooled) await this.beat();
    return this.#term;
  }

  rank(): number {
    return this.#rank;
  }

  /** How often its process does what all share: 1 if no other poller comes before it. */
  often(): number {
    if (this.#rank === 0) return 1;
    return this.#rank < LOOKERS ? OFTEN_BEHIND : OFTEN_FAR_BEHIND;
  }

  holds({ term, server }: Standing, atMs: number): boolean {
    if (term === null) return true;
    return term === this.#term && server === this.#server && atMs < this.#sureUntilMs;
  }

  async renews(standing: Standing): Promise<boolean> {
    const { monotonicMs, session } = this.#deps;
    if (this.holds(standing, monotonicMs())) return true;
    if (standing.term === this.#term && standing.server !== this.#server) await endSession(session);
    await this.beat().catch(() => undefined);
    return this.holds(standing, monotonicMs());
  }

  /** Asks whether the lock is held, and takes it if it is not. Null behind a pooler. Throws while the database is out of reach. */
  async beat(): Promise<Pulse | null> {
    return (this.#beating ??= this.#beat().finally(() => (this.#beating = null)));
  }

  async #beat(): Promise<Pulse | null> {
    const { session, name, monotonicMs } = this.#deps;
    const askedAtMs = monotonicMs();
    const pulse = await readPulse(session, name).catch((error: unknown) => {
      this.#term = null;
      throw error;
    });
    if (pulse === null) {
      this.#isPooled = true;
      return null;
    }
    if (pulse.isNew || this.#term === null) this.#term = this.#terms += 1;
    this.#server = pulse.server;
    // Of those that come before it some are gone: it is due to look after what they left.
    if (pulse.rank < LOOKERS && this.#rank >= LOOKERS) this.#pause.end();
    this.#rank = pulse.rank;
    this.#sureUntilMs = askedAtMs + SURE_MS;
    return pulse;
  }

  /** One sign of life and one look for dead pollers. Returns in how many milliseconds the next are due. */
  async turn(isBusy: boolean): Promise<number> {
    const pulse = await this.beat();
    const term = this.#term;
    if (pulse === null || term === null) return 0;
    const dueMs = await this.#dead.look(pulse, term);
    const among = Math.min(Math.max(pulse.living.length / LOOKERS, LEAST_IDLE_BEATS), MOST_IDLE_BEATS);
    const idle = pulse.rank < LOOKERS ? among : FAR_BEHIND_BEATS;
    return Math.min((isBusy ? 1 : idle) * BEAT_EVERY_MS, dueMs ?? Infinity);
  }

  /** Gives signs of life and looks for dead pollers until {@link stop} is called; often while it `isBusy`. */
  async run(isBusy: () => boolean): Promise<void> {
    const { log } = this.#deps;
    while (!this.#stopping && !this.#isPooled) {
      let waitMs = RETRY_MS;
      try {
        waitMs = await this.turn(isBusy());
      } catch (error) {
        logFailedTry(log, error, 'cannot give a sign of life, sending nothing new', 'a sign of life failed');
        waitMs = restAfter(error, RETRY_MS);
      }
      if (!this.#stopping) await this.#pause.last(waitMs);
    }
    if (this.#isPooled) log.warn({}, `a pooler stands before the database: ${WHAT_IT_MEANS}`);
  }

  /** Ends {@link run}; the lock is held until its session is closed. */
  stop(): void {
    this.#stopping = true;
    this.#pause.end();
  }
}
