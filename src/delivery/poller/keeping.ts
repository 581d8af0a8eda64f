/**
 * The keeping of lanes: a poller registers, gives signs of life, takes lanes and hands them back.
 * Invariant: what it knows of a lane is true while it keeps the lane; once others have ended it, it forgets all lanes. It follows `pending`
 * from a snapshot that is older than its first lane. If a commit has no answer, it reads all its lanes anew ({@link Keeping.doubt}).
 * Crash: others see that its lock is gone, or that it is silent ({@link heartbeat}), and free its lanes.
 * The first {@link ACTIVE_POLLERS} share the lanes evenly; those behind take only lanes that were free for a heartbeat.
 * They give them back once idle. A poller without a free slot for {@link FULL_MS} hands back lanes of partners that are under their share.
 */
import { heartbeat, enter, handBack, handOver, noteResting, readLanes } from '../queue/keepers.ts';
import type { Tx } from '../../db/pool.ts';
import type { Consent } from '../queue/consent.ts';
import type { EngineDeps } from '../queue/engine-deps.ts';
import type { KeptLane } from '../queue/lanes/kept-lane.ts';
import type { KeptLanes } from '../queue/lanes/kept-lanes.ts';
import { rescueOverdue, readFlying } from '../queue/rescuer.ts';
import type { Slots } from '../queue/slots.ts';
import { endPoller } from '../queue/maintenance/dead-pollers.ts';
import type { FailingRuns } from '../queue/maintenance/failing-runs.ts';
import { Suspender } from '../queue/maintenance/suspender.ts';
import { ACTIVE_POLLERS } from './poll-backoff.ts';
import type { Sign } from './liveness.ts';

const HEARTBEAT_EVERY_MS = 1_000;
/** Lanes taken at once beside other pollers; a single poller takes all there are. */
const FEW_LANES = 64;
const ALL_LANES = 10_000;
const FULL_MS = 1_000;
/** After so many heartbeats with nothing in flight, a poller behind the first gives them the lanes that they once could not serve. */
const IDLE_HEARTBEATS = 10;

export interface KeepingDeps extends EngineDeps {
  readonly name: string;
  readonly sign: Sign;
  readonly runs: FailingRuns;
  readonly consent: Consent;
}

export class Keeping {
  readonly #deps: KeepingDeps;
  readonly #lanes: KeptLanes;
  readonly #suspender: Suspender;
  /** False: others have ended it. Null: it has not begun. */
  #isKnown: boolean | null = null;
  #heartbeatAtMs = Number.NEGATIVE_INFINITY;
  /** Since when it has had no free slot, monotonic. */
  #fullSinceMs: number | null = null;
  /** How many heartbeats one after the other had nothing in flight. */
  #idleHeartbeats = 0;
  /** Some lanes were free at the last heartbeat. */
  seesFree = false;
  /** A lane of its own has changed and must be read again. */
  isStale = false;
  /** False after a commit without an answer: which lanes it keeps, and their settings, are read anew. */
  #isSure = true;

  constructor(deps: KeepingDeps, lanes: KeptLanes) {
    this.#deps = deps;
    this.#lanes = lanes;
    this.#suspender = new Suspender(deps);
  }

  async settled(): Promise<void> {
    await this.#suspender.settled();
  }

  async handOver(): Promise<void> {
    this.#deps.runs.leave();
    await this.#handOver();
  }

  /** To pollers that keep lanes; this one is ended, and may begin anew. */
  async #handOver(): Promise<void> {
    const { pool, name } = this.#deps;
    await pool.transaction((tx) => handOver(tx, name, this.#lanes.all));
    this.#lanes.keepOnly([]);
    this.#isKnown = false;
  }

  /** Gives a sign of life when due, takes free lanes, hands back what exceeds its part, and reads changed lanes. */
  async keep(slots: Slots): Promise<void> {
    const { pool, name, monotonicMs, sign, runs, consent } = this.#deps;
    this.#fullSinceMs = slots.free > 0 ? null : (this.#fullSinceMs ?? monotonicMs());
    let most = 0;
    if (this.#isKnown !== true) {
      this.#lanes.keepOnly([]);
      // Lanes that somebody held locked at its end are still its own (end_poller).
      if (this.#isKnown === false) this.doubt();
      const hasLock = (await sign.term()) !== null;
      this.#lanes.seen = await pool.run((sql) => enter(sql, name, hasLock));
      this.#isKnown = true;
      this.#heartbeatAtMs = Number.NEGATIVE_INFINITY;
    }
    if (monotonicMs() - this.#heartbeatAtMs >= HEARTBEAT_EVERY_MS) {
      this.#heartbeatAtMs = monotonicMs();
      most = await this.#share(slots);
    }
    const isSure = this.#isSure;
    if (most === 0 && !this.isStale && isSure) return;
    this.isStale = false;
    // All of its lanes are waited for, so it must not hold new ones meanwhile.
    const settings = await this.#commit((tx) => readLanes(tx, name, isSure ? most : 0, !isSure));
    this.#isSure = true;
    if (!isSure) this.#lanes.keepOnly(settings);
    for (const one of settings) {
      this.#lanes.keep(one);
      if (one.isInRun) runs.learn(one.webhookId);
      consent.learn(one.webhookId, !one.hasAnswered);
    }
    const inactive = settings.filter(({ isActive }) => !isActive).map(({ webhookId }) => webhookId);
    this.#suspender.suspend(inactive);
  }

  async #share(slots: Slots): Promise<number> {
    const { pool, name, monotonicMs, now, sign } = this.#deps;
    const hasLock = (await sign.term()) !== null;
    const { isKnown, living, kept, hasFree, silent } = await pool.run((sql) =>
      heartbeat(sql, name, this.#lanes.size, hasLock),
    );
    if (!isKnown) {
      this.#isKnown = false;
      return 0;
    }
    this.#suspender.suspend();
    this.#idleHeartbeats = slots.held > 0 ? 0 : this.#idleHeartbeats + 1;
    if (this.#lanes.size > 0 && sign.rank() >= ACTIVE_POLLERS && this.#idleHeartbeats > IDLE_HEARTBEATS) {
      await this.#handOver();
      return 0;
    }
    for (const other of silent) await pool.transaction((tx) => endPoller(tx, other, false));
    const { foreign } = this.#lanes;
    if (foreign.length > 0) {
      await pool.transaction((tx) => rescueOverdue(tx, now()));
      this.#lanes.applyForeign(await pool.run((sql) => readFlying(sql, foreign)));
    }
    await this.#noteResting();
    // With a part for each of those behind too, the first would hand lanes to one another for ever. Behind a pooler nobody has an order.
    const part = Math.ceil(kept / (hasLock ? Math.min(living, ACTIVE_POLLERS) : living));
    const isFull = this.#fullSinceMs !== null;
    await this.#handBack(this.#lanes.excess(hasFree || isFull ? 0 : this.#lanes.size - part));
    if (this.#fullSinceMs !== null) {
      const isLong = monotonicMs() - this.#fullSinceMs >= FULL_MS;
      // A lane that it got without reading it could not be handed back.
      this.isStale = true;
      const atShare = new Set(slots.shares().atShare);
      const isSpare = ({ flying, settings }: KeptLane) => flying.size === 0 && !atShare.has(settings.partnerId);
      if (isLong && living > 1) await this.#handBack(this.#lanes.all.filter(isSpare));
      return 0;
    }
    const wasFree = this.seesFree;
    this.seesFree = hasFree;
    if (!hasFree) return 0;
    if (sign.rank() >= ACTIVE_POLLERS && !wasFree) return 0;
    return living === 1 ? ALL_LANES : Math.max(FEW_LANES, part - this.#lanes.size);
  }

  doubt(): void {
    this.#isSure = false;
  }

  /** Should the answer to its commit be lost, nothing that this process knows of its lanes is sure. */
  async #commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#deps.pool.transaction(work);
    } catch (error) {
      this.doubt();
      throw error;
    }
  }

  async #noteResting(): Promise<void> {
    const { misnoted } = this.#lanes;
    if (misnoted.length === 0) return;
    for (const id of await this.#commit((tx) => noteResting(tx, this.#deps.name, misnoted))) {
      const lane = this.#lanes.get(id);
      if (lane !== undefined) lane.isResting = !lane.isResting;
    }
  }

  async #handBack(lanes: readonly KeptLane[]): Promise<void> {
    if (lanes.length === 0) return;
    const handed = await this.#commit((tx) => handBack(tx, this.#deps.name, lanes));
    for (const webhookId of handed) this.#lanes.forget(webhookId);
  }
}
