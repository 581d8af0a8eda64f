/**
 * When a poller looks for work, and how long it lets work gather before it claims.
 *
 * Each claim costs about as much as 20 deliveries, so one for each event is the dear part of a steady load. Where events come
 * so fast that {@link GATHERING_MS} bring several, the poller claims that often and no oftener; where they come slower, where
 * there is more to claim already, or where a webhook has no slot left, it claims at once. A delivery that was due long before
 * its claim says nothing of the rate of events, so it does not count. Pure but for its memory; times are monotonic, in
 * milliseconds. Measured: 445 attempts to hanging webhooks end in one second, and their lanes are claimed anew. When these
 * claims counted as events, and each claim waited for slots, healthy events of that second took 12 to 27 ms (median); now 3.
 * Measured on two busy cores, 500 events/s over 100 webhooks, CPU of PostgreSQL and poller for 10,000: 24 to 26 s without,
 * 18 to 20 with, more than half of it the appends; commit to arrival (p50) 4 to 7 ms and 12 to 14.
 */
import type { Patience } from '../queue/claim.ts';

const GATHERING_MS = 8;
/** A claim waits if it is likely to find this many deliveries. */
const SEVERAL = 2.5;
/** While few slots are free, a claim waits this long for more, if about {@link WORTH_A_CLAIM} come free meanwhile. */
export const FEW_SLOTS_MS = 10;
/** A claim costs as much as 20 deliveries. */
const WORTH_A_CLAIM = 20;
/** A rate is that of about this many ms. */
const REMEMBERED_MS = 200;
/**
 * An idle poller waits in the server, which looks for work every ms at first, after some seconds every 50 ms. `pg_sleep` rounds up: 0.9 takes 1.1 ms; 1 takes 2.1 and
 * adds half a millisecond from commit to arrival.
 */
const NAP_MIN_MS = 0.9;
const NAP_MAX_MS = 50;
/** Each {@link WAIT_MIN_MS} without work makes its naps longer by this factor. */
const NAP_GROWTH = 1.06;
/** Each wait ends in a claim, and a poller that is told to stop waits for it. */
const WAIT_MIN_MS = 100;
const NAPS_A_WAIT = 20;

/** So many pollers keep lanes; those behind rest until some have been free for a while. */
export const LOOKERS = 4;
export const REST_MS = 2_000;

/** How many a millisecond, of late. */
class Rate {
  #perMs = 0;
  #addedAtMs: number | null = null;

  add(count: number, atMs: number): void {
    const passedMs = Math.max(atMs - (this.#addedAtMs ?? atMs), 0.1);
    this.#addedAtMs = atMs;
    this.#perMs += (count / passedMs - this.#perMs) * (1 - Math.exp(-passedMs / REMEMBERED_MS));
  }

  at(nowMs: number): number {
    return this.#perMs * Math.exp(-(nowMs - (this.#addedAtMs ?? nowMs)) / REMEMBERED_MS);
  }
}

export class Rhythm {
  readonly #arrivals = new Rate();
  readonly #freed = new Rate();
  #napMs = NAP_MIN_MS;
  #heardAtMs: number | null = null;

  get napMs(): number {
    return this.#napMs;
  }

  /** How an idle poller waits now. */
  patience(): Patience {
    return { ms: Math.max(this.#napMs * NAPS_A_WAIT, WAIT_MIN_MS), napMs: this.#napMs };
  }

  /** Hears of a claim of `count` deliveries, `arrived` of which had just arrived. */
  hear(count: number, arrived: number, atMs: number): void {
    const passedMs = atMs - (this.#heardAtMs ?? atMs);
    this.#heardAtMs = atMs;
    this.#arrivals.add(arrived, atMs);
    this.#napMs = count > 0 ? NAP_MIN_MS : Math.min(this.#napMs * NAP_GROWTH ** (passedMs / WAIT_MIN_MS), NAP_MAX_MS);
  }

  /** Hears of `count` slots that were let go. */
  hearFreed(count: number, atMs: number): void {
    this.#freed.add(count, atMs);
  }

  /** How long work may gather before the next claim; not at all when there is more to claim already (`isPressed`). */
  gatheringMs(isPressed: boolean, nowMs: number): number {
    return isPressed || this.#arrivals.at(nowMs) * GATHERING_MS < SEVERAL ? 0 : GATHERING_MS;
  }

  /** How long a claim may wait for slots while few are free. */
  slotsMs(nowMs: number): number {
    return this.#freed.at(nowMs) * FEW_SLOTS_MS < WORTH_A_CLAIM ? 0 : FEW_SLOTS_MS;
  }
}
