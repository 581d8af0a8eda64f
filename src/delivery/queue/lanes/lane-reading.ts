/**
 * How far the lanes of a keeper are read, and which of them have more. Pure.
 *
 * Invariant: what comes back while a turn is under way, which may not have seen it, is applied again when the turn was heard.
 */
import { FIRST, isBehind, type KeptLane, NO_MARK, type Place, previousOf, timeOf } from './kept-lane.ts';

export class LaneReading {
  /** With more to read behind their cursors, in the order in which they are served. */
  readonly ready = new Set<KeptLane>();
  readonly retrying = new Set<KeptLane>();
  /** With something in flight, more to read, or a window that is smaller than what a turn takes. */
  readonly narrow = new Set<KeptLane>();
  #meanwhile: (() => void)[] | null = null;

  forget(lane: KeptLane): void {
    for (const lanes of [this.ready, this.retrying, this.narrow]) lanes.delete(lane);
  }

  /** A turn is under way until {@link heard}. */
  planned(): void {
    this.#meanwhile = [];
  }

  get isPlanned(): boolean {
    return this.#meanwhile !== null;
  }

  /** Ends the turn; what is returned is to be called once it was taken in. */
  heard(): readonly (() => void)[] {
    const late = this.#meanwhile ?? [];
    this.#meanwhile = null;
    return late;
  }

  /** Nothing of the lane was read. */
  readFromStart(lane: KeptLane, retryAtMs: number, hasDue = true): void {
    lane.cursor = FIRST;
    lane.mark = NO_MARK;
    if (lane.loans !== null) lane.loans.isHolding = false;
    if (hasDue) this.ready.add(lane);
    else this.ready.delete(lane);
    this.narrow.add(lane);
    this.retryAt(lane, retryAtMs);
  }

  /** It was served, and goes behind the others that have more. */
  rotate(lane: KeptLane, hasMore: boolean): void {
    lane.served = 0;
    this.ready.delete(lane);
    if (hasMore) this.ready.add(lane);
  }

  /** The lane is read up to here. */
  advance(lane: KeptLane, { dueAt, id }: Place): void {
    if (dueAt !== null) lane.mark = { dueAt, id };
    else if (id > lane.cursor) lane.cursor = id;
  }

  /** Nothing of the lane was read from here on. */
  goBack(lane: KeptLane, { dueAt, id }: Place): void {
    this.#meanwhile?.push(() => this.goBack(lane, { dueAt, id }));
    if (dueAt === null || dueAt === '-infinity') {
      const before = previousOf(id);
      if (before < lane.cursor) lane.cursor = before;
      this.ready.add(lane);
      this.narrow.add(lane);
      return;
    }
    if (!isBehind({ dueAt, id }, lane.mark)) lane.mark = { dueAt, id: previousOf(id) };
    this.retryBy(lane, timeOf(dueAt));
  }

  /** Something of it is tried again then, or before. */
  retryBy(lane: KeptLane, atMs: number): void {
    this.#meanwhile?.push(() => this.retryBy(lane, atMs));
    // The clock was set back.
    if (timeOf(lane.mark.dueAt) > atMs) lane.mark = NO_MARK;
    this.retryAt(lane, Math.min(lane.retryAtMs, atMs));
  }

  /** Its first retry is then; Infinity: it has none. */
  retryAt(lane: KeptLane, atMs: number): void {
    lane.retryAtMs = atMs;
    if (atMs === Infinity) this.retrying.delete(lane);
    else this.retrying.add(lane);
  }
}
