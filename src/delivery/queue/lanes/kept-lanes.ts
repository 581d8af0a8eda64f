/**
 * What a poller knows of its lanes: what is in flight, how far each is read, and how much it may take. Pure.
 * Invariant: no due row is overlooked. Each row of `pending` of a kept lane is in flight here; or after the cursor of a ready lane; or a
 * retry at or after the lane's mark, due at `retryAt` or later; or of a transaction that `seen` does not include; or its lane is off. A
 * row whose attempt is in flight is refused, whatever the server says, so nothing is sent twice.
 * Crash: this knowledge is gone; the next keeper reads the lanes from their start. A poll without an answer moves nothing here.
 */
import type { Answers } from '../answers.ts';
import {
  awaitsItself,
  FIRST,
  type Flight,
  isStopped,
  type KeptLane,
  land,
  type LaneSettings,
  learnFlights,
  newLane,
  NO_MARK,
  roomOf,
  takeOff,
  timeOf,
} from './kept-lane.ts';
import { excessOf } from './handing-over.ts';
import { KeptLoans, type LoanAsk } from './kept-loans.ts';
import { LaneReading } from './lane-reading.ts';
import type { Slots } from '../slots.ts';
import { type Ask, type Found, PollPlan } from './poll-plan.ts';
import { nextWindow } from '../window.ts';

export class KeptLanes {
  readonly #lanes = new Map<string, KeptLane>();
  readonly #reading = new LaneReading();
  /** Lanes that deliver each loan in order. */
  readonly #ordered = new Set<KeptLane>();
  /** Flights that ended during the current poll, which may not have seen their end. */
  readonly #endedMeanwhile = new Map<string, number>();
  #planned: PollPlan | null = null;
  #retriesFirst = false;
  /** Flights of earlier keepers' claims, with their lanes. */
  readonly #foreign = new Map<string, string>();
  seen = '1:1:';

  get size(): number {
    return this.#lanes.size;
  }

  get all(): readonly KeptLane[] {
    return [...this.#lanes.values()];
  }

  get(webhookId: string): KeptLane | undefined {
    return this.#lanes.get(webhookId);
  }

  /** True while a lane has more to read than its window or its partner's share allows. */
  isWaiting(nowMs: number): boolean {
    const waiting = [...this.#reading.ready, ...[...this.#ordered].filter((lane) => awaitsItself(lane))];
    return waiting.some((lane) => !isStopped(lane, nowMs));
  }

  isStuck(nowMs: number): boolean {
    const due = [...this.#reading.ready, ...[...this.#ordered].filter(({ loans }) => loans?.hasEnded)];
    return this.isWaiting(nowMs) && !due.some((lane) => roomOf(lane, nowMs) > 0);
  }

  /** The end of one of its flights lets another begin. */
  isFull(webhookId: string, nowMs: number): boolean {
    const lane = this.#lanes.get(webhookId);
    return lane === undefined || lane.loans?.isHolding === true || roomOf(lane, nowMs) === 0;
  }

  /** Keeps a new lane, read from its start; or applies the new settings of a changed one. */
  keep(settings: LaneSettings): void {
    const lane = this.#lanes.get(settings.webhookId) ?? newLane(settings);
    // Copied, it has a fixed shape: the driver's row is a hash table four times as large, and a poller may keep 100,000.
    lane.settings = { ...settings };
    lane.isResting = false;
    this.#lanes.set(settings.webhookId, lane);
    lane.loans = settings.inOrder ? new KeptLoans() : null;
    lane.resumesUntilMs = settings.resumesUntil?.getTime() ?? -Infinity;
    if (settings.inOrder) this.#ordered.add(lane);
    else this.#ordered.delete(lane);
    for (const id of learnFlights(lane)) this.#foreign.set(id, settings.webhookId);
    // A retry may have been recorded since the lane was read.
    const retryAtMs = Math.min(lane.retryAtMs, settings.retryAt?.getTime() ?? Infinity);
    this.#reading.readFromStart(lane, retryAtMs, settings.hasDue);
  }

  forget(webhookId: string): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    this.#lanes.delete(webhookId);
    this.#reading.forget(lane);
    this.#ordered.delete(lane);
  }

  get foreign(): readonly string[] {
    return [...this.#foreign.keys()];
  }

  /** `flying`: the earlier keepers' flights that are not over. */
  applyForeign(flying: ReadonlySet<string>): void {
    for (const [id, webhookId] of this.#foreign) {
      if (flying.has(id)) continue;
      this.#foreign.delete(id);
      const flight = this.#lanes.get(webhookId)?.flying.get(id);
      if (flight?.isForeign === true) this.recheck(webhookId, id, flight.number);
    }
  }

  /** Forgets the lanes that are not among `kept`. */
  keepOnly(kept: readonly LaneSettings[]): void {
    const ids = new Set(kept.map(({ webhookId }) => webhookId));
    for (const id of this.#lanes.keys()) if (!ids.has(id)) this.forget(id);
  }

  /** Lanes to hand back, at most `most`, with nothing in flight (handing-over.ts). */
  excess(most: number): readonly KeptLane[] {
    return excessOf(this.all, most, (lane) => this.#reading.ready.has(lane) || lane.loans?.hasEnded === true);
  }

  get misnoted(): readonly KeptLane[] {
    return this.#reading.misnoted;
  }

  /** Plans a poll at `nowMs` on the database's clock. */
  plan(slots: Slots, nowMs: number): Ask {
    this.#reading.planned();
    this.#endedMeanwhile.clear();
    const plan = (this.#planned = new PollPlan(slots, nowMs, this.#reading.ready.size));
    const [first] = this.#ordered;
    if (first !== undefined && this.#ordered.delete(first)) this.#ordered.add(first);
    for (const lane of this.#ordered) {
      if (nowMs < lane.resumesUntilMs) plan.wakeBy(lane.resumesUntilMs);
      else if (lane.resumesUntilMs > -Infinity) {
        lane.resumesUntilMs = -Infinity;
        if (lane.cursor !== FIRST || lane.mark !== NO_MARK) this.#reading.readFromStart(lane, 0);
      }
      for (const loan of lane.loans?.next(roomOf(lane, nowMs)) ?? [])
        plan.read(lane, { dueAt: null, id: FIRST }, 'infinity', loan);
    }
    // In turns, because either may take all slots that come free.
    this.#retriesFirst = !this.#retriesFirst;
    if (!this.#retriesFirst) this.#readReady(plan);
    for (const lane of this.#reading.retrying) {
      if (lane.retryAtMs <= nowMs) plan.read(lane, lane.mark, 'infinity');
      else plan.wakeBy(lane.retryAtMs);
    }
    if (this.#retriesFirst) this.#readReady(plan);
    // Every other lane has room for what a poll takes of it.
    plan.bound(this.#reading.narrow, this.#lanes.values(), this.#reading.ready);
    this.#reading.settle(nowMs);
    return plan.ask;
  }

  #readReady(plan: PollPlan): void {
    for (const lane of this.#reading.ready) plan.read(lane, { dueAt: null, id: lane.cursor }, '-infinity');
  }

  /** Applies a poll's result. Returns what may be sent: the due rows that are not in flight already. */
  apply<Row extends Found>(ask: Ask, rows: readonly Row[], nowMs: number): Extract<Row, { kind: 'due' }>[] {
    const mine: Extract<Row, { kind: 'due' }>[] = [];
    const fresh = new Map<string, number>();
    const shut = new Set(rows.filter(({ kind }) => kind === 'shut').map(({ webhookId }) => webhookId));
    for (const row of rows) {
      const lane = this.#lanes.get(row.webhookId);
      if (lane === undefined || row.kind !== 'due') continue;
      if (row.dueAt === null) fresh.set(row.webhookId, (fresh.get(row.webhookId) ?? 0) + 1);
      // A lane in order reports separately how far it is read.
      if (lane.loans === null) this.#reading.advance(lane, row);
      if (lane.flying.get(row.id)?.number === row.number || this.#endedMeanwhile.get(row.id) === row.number) continue;
      takeOff(lane, row.id, { number: row.number, dueAt: row.dueAt, sinceMs: nowMs, loan: row.loan });
      lane.claimed = lane.flying.size;
      this.#reading.narrow.add(lane);
      mine.push(row as Extract<Row, { kind: 'due' }>);
    }
    for (const [index, id] of ask.hooks.entries()) {
      const lane = this.#lanes.get(id);
      if (lane === undefined || shut.has(id) || ask.toDues[index] !== '-infinity') continue;
      const count = fresh.get(id) ?? 0;
      const hasMore = count >= (ask.rooms[index] ?? 0);
      // A lane that was cut off goes first until it has had as much as the others.
      if (hasMore && this.#planned?.cut.has(lane) === true) lane.served += count;
      else this.#reading.rotate(lane, hasMore);
    }
    this.#applyLoans(ask.loans?.asks ?? [], rows, shut);
    const late = this.#reading.applied();
    for (const row of rows) {
      const lane = this.#lanes.get(row.webhookId);
      if (row.kind === 'next' && lane !== undefined)
        this.#reading.hadRetries(lane, row.dueAt === null ? Infinity : timeOf(row.dueAt));
    }
    // After the asks, because rows left over keep a lane ready; after the next retries, because what was left is due now.
    for (const row of rows) {
      const lane = this.#lanes.get(row.webhookId);
      if (row.kind === 'left' && lane !== undefined) this.#reading.goBack(lane, row);
    }
    for (const again of late) again();
    return mine;
  }

  #applyLoans(asks: readonly LoanAsk[], rows: readonly Found[], shut: ReadonlySet<string>): void {
    for (const { hook, loan } of asks) {
      const lane = this.#lanes.get(hook);
      if (loan !== null && lane !== undefined && !shut.has(hook))
        lane.loans?.asked(loan, this.#planned?.ends.get(lane) ?? 0);
    }
    for (const row of rows) {
      const lane = this.#lanes.get(row.webhookId);
      if (row.kind !== 'read' || lane === undefined || lane.loans === null) continue;
      if (row.id !== null) this.#reading.advance(lane, { dueAt: row.dueAt, id: row.id });
      lane.loans.isHolding ||= row.isHolding;
      if (asks[row.ask - 1]?.to_due === '-infinity') this.#reading.rotate(lane, row.hasMore);
    }
  }

  /** Ends a flight by its record. `retryAt`: when it is tried again. */
  complete(webhookId: string, id: string, number: number, retryAt: Date | null): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    const flight = lane.flying.get(id);
    if (flight?.number === number) this.#end(lane, id, flight);
    if (retryAt !== null) this.#reading.retryBy(lane, retryAt.getTime());
  }

  /**
   * Ends a flight without a record: it was given back, somebody else ended it, or the record's commit is unknown. Its row is looked for at
   * its old place, among those due at once, and among the retries.
   */
  recheck(webhookId: string, id: string, number: number): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    this.complete(webhookId, id, number, new Date(0));
    this.#reading.goBack(lane, { id, dueAt: null });
  }

  #end(lane: KeptLane, id: string, { loan, number }: Flight): void {
    land(lane, id);
    if (this.#reading.isPlanned) this.#endedMeanwhile.set(id, number);
    if (loan !== null) lane.loans?.end(loan);
  }

  answered(webhookId: string, answers: Answers): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    this.#reading.narrow.add(lane);
    lane.pace = nextWindow(lane.pace, lane.settings.maxInFlight, { ...answers, inFlight: lane.claimed });
  }
}
