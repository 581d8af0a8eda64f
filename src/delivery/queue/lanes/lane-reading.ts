/**
 * How far a keeper's lanes are read, and which have more. Pure.
 * Invariant: a row that becomes due again during a poll, which may not have seen it, is applied again after the poll.
 */
import { FIRST, isBehind, isOff, type KeptLane, NO_MARK, type Place, previousOf, roomOf, timeOf } from './kept-lane.ts';
import { MOST_EACH } from './poll-plan.ts';

/** Above this many narrow lanes, those that are idle are noted in their rows, so that no poll names them. */
const FEW_NARROW = 64;

export class LaneReading {
  /** Lanes with more to read behind their cursors, in serving order; none that is off. */
  readonly ready = new Set<KeptLane>();
  readonly retrying = new Set<KeptLane>();
  /** Lanes with something in flight, more to read, or a window smaller than what a poll takes. */
  readonly narrow = new Set<KeptLane>();
  #meanwhile: (() => void)[] | null = null;
  #nowMs = 0;

  forget(lane: KeptLane): void {
    for (const lanes of [this.ready, this.retrying, this.narrow]) lanes.delete(lane);
  }

  planned(): void {
    this.#meanwhile = [];
  }

  /** After the narrow lanes were named: those go whose rows say what a poll may take. */
  settle(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const lane of this.narrow) if (this.#isIdle(lane) && !this.#isMisnoted(lane)) this.narrow.delete(lane);
  }

  /** Idle lanes whose rows should say that a poll takes nothing new of them (`resting`), or no longer say so. */
  get misnoted(): readonly KeptLane[] {
    if (this.narrow.size <= FEW_NARROW) return [];
    return [...this.narrow].filter((lane) => this.#isIdle(lane) && this.#isMisnoted(lane));
  }

  #isIdle(lane: KeptLane): boolean {
    return lane.flying.size === 0 && !this.ready.has(lane);
  }

  #isMisnoted(lane: KeptLane): boolean {
    return lane.isResting !== roomOf(lane, this.#nowMs) < MOST_EACH;
  }

  get isPlanned(): boolean {
    return this.#meanwhile !== null;
  }

  /** Ends the poll; call what it returns after the result was applied. */
  applied(): readonly (() => void)[] {
    const late = this.#meanwhile ?? [];
    this.#meanwhile = null;
    return late;
  }

  readFromStart(lane: KeptLane, retryAtMs: number, hasDue = true): void {
    lane.cursor = FIRST;
    lane.mark = NO_MARK;
    if (lane.loans !== null) lane.loans.isHolding = false;
    if (hasDue && !isOff(lane)) this.ready.add(lane);
    else this.ready.delete(lane);
    this.narrow.add(lane);
    this.retryAt(lane, retryAtMs);
  }

  rotate(lane: KeptLane, hasMore: boolean): void {
    lane.served = 0;
    this.ready.delete(lane);
    if (hasMore) this.ready.add(lane);
  }

  advance(lane: KeptLane, { dueAt, id }: Place): void {
    if (dueAt !== null) lane.mark = { dueAt, id };
    else if (id > lane.cursor) lane.cursor = id;
  }

  goBack(lane: KeptLane, { dueAt, id }: Place): void {
    this.#meanwhile?.push(() => this.goBack(lane, { dueAt, id }));
    if (dueAt === null || dueAt === '-infinity') {
      const before = previousOf(id);
      if (before < lane.cursor) lane.cursor = before;
      if (!isOff(lane)) this.ready.add(lane);
      this.narrow.add(lane);
      return;
    }
    if (!isBehind({ dueAt, id }, lane.mark)) lane.mark = { dueAt, id: previousOf(id) };
    this.retryBy(lane, timeOf(dueAt));
  }

  /** Something of it is retried at `atMs` or before. */
  retryBy(lane: KeptLane, atMs: number): void {
    this.#meanwhile?.push(() => this.retryBy(lane, atMs));
    // The clock was set back.
    if (timeOf(lane.mark.dueAt) > atMs) lane.mark = NO_MARK;
    this.retryAt(lane, Math.min(lane.retryAtMs, atMs));
  }

  /** Its retries were read: those of others come first, however many more it has. */
  hadRetries(lane: KeptLane, nextAtMs: number): void {
    this.retrying.delete(lane);
    this.retryAt(lane, nextAtMs);
  }

  retryAt(lane: KeptLane, atMs: number): void {
    lane.retryAtMs = atMs;
    if (atMs === Infinity) this.retrying.delete(lane);
    else this.retrying.add(lane);
  }
}
