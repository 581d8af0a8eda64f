/**
 * When a poller polls for work, and how long work may gather before a claim. Stateful, no I/O; times are monotonic, in milliseconds.
 * A claim costs about as much as 20 deliveries, so under a steady load one claim per event would dominate. If {@link GATHERING_MS} bring
 * several events, the poller claims no oftener than that. It claims at once if events come slower, more is waiting already, or a webhook
 * has no slot left.
 * A delivery that was due long before its claim does not count as an arrival: otherwise hanging attempts that end together would make
 * healthy events wait.
 */
import type { PollWait } from '../queue/claim.ts';

const GATHERING_MS = 8;
/** A claim waits if it is likely to find at least this many deliveries. */
const SEVERAL = 2.5;
/** While few slots are free, a claim waits this long for more, if about {@link WORTH_A_CLAIM} come free meanwhile. */
export const FEW_SLOTS_MS = 10;
/** In freed slots, as {@link FEW_SLOTS_MS} uses it. */
const WORTH_A_CLAIM = 20;
/** The window over which a rate is measured. */
const REMEMBERED_MS = 200;
/**
 * The poll interval of an idle poller, in the server: about 1 ms at first, 50 ms after some seconds. `pg_sleep` rounds up: 0.9 takes
 * 1.1 ms, but 1 takes 2.1.
 */
const MIN_POLL_INTERVAL_MS = 0.9;
const MAX_POLL_INTERVAL_MS = 50;
/** The growth of the poll interval for each {@link WAIT_MIN_MS} without work. */
const POLL_INTERVAL_GROWTH = 1.06;
/** Each wait ends in a claim, and a stopping poller waits for it. */
const WAIT_MIN_MS = 100;
const POLLS_PER_WAIT = 20;

/** This many pollers keep lanes; those behind wait until some lanes have been free for a while. */
export const ACTIVE_POLLERS = 4;
export const REST_MS = 2_000;
const MAX_RESTS = 5;

/**
 * How many {@link REST_MS} a poller behind the first rests between two looks. The next four get the lanes of those that die, so they rest once;
 * the others rest the longer the further behind they are, unless lanes are free.
 */
export const restsOf = (rank: number, hasFree: boolean): number =>
  hasFree ? 1 : Math.min(Math.floor(rank / ACTIVE_POLLERS), MAX_RESTS);

/** A recent rate, per millisecond. */
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

export class PollBackoff {
  readonly #arrivals = new Rate();
  readonly #freed = new Rate();
  #pollIntervalMs = MIN_POLL_INTERVAL_MS;
  #observedAtMs: number | null = null;

  get pollIntervalMs(): number {
    return this.#pollIntervalMs;
  }

  pollWait(): PollWait {
    return { ms: Math.max(this.#pollIntervalMs * POLLS_PER_WAIT, WAIT_MIN_MS), pollIntervalMs: this.#pollIntervalMs };
  }

  /** Hears of a claim of `count` deliveries, `arrived` of which had just arrived. */
  observe(count: number, arrived: number, atMs: number): void {
    const passedMs = atMs - (this.#observedAtMs ?? atMs);
    this.#observedAtMs = atMs;
    this.#arrivals.add(arrived, atMs);
    this.#pollIntervalMs =
      count > 0
        ? MIN_POLL_INTERVAL_MS
        : Math.min(this.#pollIntervalMs * POLL_INTERVAL_GROWTH ** (passedMs / WAIT_MIN_MS), MAX_POLL_INTERVAL_MS);
  }

  observeFreed(count: number, atMs: number): void {
    this.#freed.add(count, atMs);
  }

  /** How long work may gather before the next claim; 0 when more is waiting already (`isPressed`). */
  gatheringMs(isPressed: boolean, nowMs: number): number {
    return isPressed || this.#arrivals.at(nowMs) * GATHERING_MS < SEVERAL ? 0 : GATHERING_MS;
  }

  /** How long a claim may wait for slots while few are free. */
  slotsMs(nowMs: number): number {
    return this.#freed.at(nowMs) * FEW_SLOTS_MS < WORTH_A_CLAIM ? 0 : FEW_SLOTS_MS;
  }
}
