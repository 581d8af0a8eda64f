/**
 * What a poller knows of the lanes that it keeps: what is in flight of each, how far it has read, and how much it may take. Pure.
 *
 * Invariant: of a kept lane, each row of `pending` is in flight here, lies behind the lane's cursor while the lane is ready, is a retry at or
 * behind the lane's mark that comes due at `retryAt` or later, or is of a transaction that `seen` does not know. So nothing that is due waits unseen, and
 * nothing that is in flight is sent again: a row whose attempt flies already is refused, whatever the server says.
 * Crash: it is gone, and whoever takes the lanes reads them from their start. Without an answer to a turn nothing here has moved.
 */
import type { Answers } from '../answers.ts';
import {
  awaitsItself,
  FIRST,
  type Flight,
  type KeptLane,
  type LaneSettings,
  newLane,
  NO_MARK,
  roomOf,
  timeOf,
} from './kept-lane.ts';
import { excessOf } from './handing-over.ts';
import { KeptLoans, type LoanAsk } from './kept-loans.ts';
import { LaneReading } from './lane-reading.ts';
import type { Slots } from '../slots.ts';
import { type Ask, type Found, MOST_EACH, TurnPlan } from './turn-plan.ts';
import { nextWindow } from '../window.ts';

export class KeptLanes {
  readonly #lanes = new Map<string, KeptLane>();
  readonly #reading = new LaneReading();
  /** That get each loan in order. */
  readonly #ordered = new Set<KeptLane>();
  /** What has ended while a turn is under way, which may have seen it as it was before. */
  readonly #endedMeanwhile = new Map<string, number>();
  #planned: TurnPlan | null = null;
  /** By claims of an earlier keeper, with their lanes. */
  readonly #foreign = new Map<string, string>();
  /** The snapshot up to which `pending` is followed. */
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

  /** True while a lane has more to read than its window, or its partner's share, lets it take. */
  get isWaiting(): boolean {
    return this.#reading.ready.size > 0 || [...this.#ordered].some((lane) => awaitsItself(lane));
  }

  isStuck(nowMs: number): boolean {
    const due = [...this.#reading.ready, ...[...this.#ordered].filter(({ loans }) => loans?.hasEnded)];
    return this.isWaiting && !due.some((lane) => roomOf(lane, nowMs) > 0);
  }

  /** The end of a flight of it lets another begin. */
  isFull(webhookId: string, nowMs: number): boolean {
    const lane = this.#lanes.get(webhookId);
    return lane === undefined || lane.loans?.isHolding === true || roomOf(lane, nowMs) === 0;
  }

  /** Keeps a lane, read from its start; or reads one anew that has changed. */
  keep(settings: LaneSettings): void {
    const known = this.#lanes.get(settings.webhookId);
    const lane = known ?? newLane(settings);
    if (known === undefined) for (const { id } of settings.flying) this.#foreign.set(id, settings.webhookId);
    lane.settings = settings;
    this.#lanes.set(settings.webhookId, lane);
    lane.loans = settings.inOrder ? new KeptLoans() : null;
    lane.resumesUntilMs = settings.resumesUntil?.getTime() ?? -Infinity;
    if (settings.inOrder) this.#ordered.add(lane);
    else this.#ordered.delete(lane);
    for (const { id, number, loan } of settings.flying) {
      const flight = lane.flying.get(id);
      if (flight?.number === number) flight.loan = loan;
    }
    this.#reading.readFromStart(lane, settings.retryAt?.getTime() ?? Infinity, settings.hasDue);
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

  /** Hears which of an earlier keeper's flights are not over. */
  hearForeign(flying: ReadonlySet<string>): void {
    for (const [id, webhookId] of this.#foreign) {
      if (flying.has(id)) continue;
      this.#foreign.delete(id);
      const flight = this.#lanes.get(webhookId)?.flying.get(id);
      if (flight?.isForeign === true) this.lookAgain(webhookId, id, flight.number);
    }
  }

  forgetAll(): void {
    for (const id of this.#lanes.keys()) this.forget(id);
  }

  /** Reads every lane from its start: another server may have lost what this one remembers. */
  readAll(): void {
    for (const lane of this.#lanes.values()) this.#reading.readFromStart(lane, 0);
  }

  /** At most `most` lanes to hand back, of which nothing is in flight (handing-over.ts). */
  excess(most: number): readonly KeptLane[] {
    return excessOf(this.all, most, (lane) => this.#reading.ready.has(lane) || lane.loans?.hasEnded === true);
  }

  /** Lanes that nothing is in flight of, but those of these partners. */
  spare(sated: ReadonlySet<string>): KeptLane[] {
    return this.all.filter(({ flying, settings }) => flying.size === 0 && !sated.has(settings.partnerId));
  }

  /** Plans a turn at `nowMs` on the database's clock. */
  plan(slots: Slots, nowMs: number): Ask {
    this.#reading.planned();
    this.#endedMeanwhile.clear();
    const plan = new TurnPlan(slots, nowMs, this.#reading.ready.size);
    this.#planned = plan;
    for (const lane of this.#ordered) {
      if (nowMs < lane.resumesUntilMs) plan.wakeBy(lane.resumesUntilMs);
      else if (lane.resumesUntilMs > -Infinity) {
        lane.resumesUntilMs = -Infinity;
        if (lane.cursor !== FIRST || lane.mark !== NO_MARK) this.#reading.readFromStart(lane, 0);
      }
      for (const loan of lane.loans?.next(roomOf(lane, nowMs)) ?? [])
        plan.read(lane, { dueAt: null, id: FIRST }, 'infinity', loan);
    }
    for (const lane of this.#reading.retrying) {
      if (lane.retryAtMs <= nowMs) plan.read(lane, lane.mark, 'infinity');
      else plan.wakeBy(lane.retryAtMs);
    }
    for (const lane of this.#reading.ready) plan.read(lane, { dueAt: null, id: lane.cursor }, '-infinity');
    // Of the others every lane has room for what a turn takes of it.
    plan.bound(this.#reading.narrow, this.#lanes.values(), this.#reading.ready);
    for (const lane of this.#reading.narrow)
      if (lane.flying.size === 0 && !this.#reading.ready.has(lane) && roomOf(lane, nowMs) >= MOST_EACH)
        this.#reading.narrow.delete(lane);
    return plan.ask;
  }

  /** Takes in what a turn found. Returns what may be sent: of what is due, all that does not fly already. */
  hear<Row extends Found>(ask: Ask, rows: readonly Row[], nowMs: number): Extract<Row, { kind: 'due' }>[] {
    const mine: Extract<Row, { kind: 'due' }>[] = [];
    const fresh = new Map<string, number>();
    const shut = new Set<string>();
    for (const row of rows) {
      const lane = this.#lanes.get(row.webhookId);
      if (lane === undefined) continue;
      if (row.kind === 'shut') shut.add(row.webhookId);
      if (row.kind !== 'due') continue;
      if (row.dueAt === null) fresh.set(row.webhookId, (fresh.get(row.webhookId) ?? 0) + 1);
      // A lane in order is told apart how far it is read.
      if (lane.loans === null) this.#reading.advance(lane, row);
      if (lane.flying.get(row.id)?.number === row.number || this.#endedMeanwhile.get(row.id) === row.number) continue;
      lane.flying.set(row.id, { number: row.number, dueAt: row.dueAt, sinceMs: nowMs, loan: row.loan });
      lane.claimed = lane.flying.size;
      this.#reading.narrow.add(lane);
      mine.push(row as Extract<Row, { kind: 'due' }>);
    }
    for (const [index, id] of ask.hooks.entries()) {
      const lane = this.#lanes.get(id);
      if (lane === undefined || shut.has(id) || ask.toDues[index] !== '-infinity') continue;
      const count = fresh.get(id) ?? 0;
      const hasMore = count >= (ask.rooms[index] ?? 0);
      // Whoever was cut off goes on first, until it has had as much as the others.
      if (hasMore && this.#planned?.cut.has(lane) === true) lane.served += count;
      else this.#reading.rotate(lane, hasMore);
    }
    this.#hearLoans(ask.loans?.asks ?? [], rows, shut);
    const late = this.#reading.heard();
    // Behind the asks: what was left of a lane keeps it ready.
    for (const row of rows) {
      const lane = this.#lanes.get(row.webhookId);
      if (lane === undefined) continue;
      if (row.kind === 'left') this.#reading.goBack(lane, row);
      if (row.kind === 'next') this.#reading.retryAt(lane, row.dueAt === null ? Infinity : timeOf(row.dueAt));
    }
    for (const again of late) again();
    return mine;
  }

  #hearLoans(asks: readonly LoanAsk[], rows: readonly Found[], shut: ReadonlySet<string>): void {
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

  /** Ends a flight that its record has told of. `retryAt`: it is tried again then. */
  land(webhookId: string, id: string, number: number, retryAt: Date | null): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    const flight = lane.flying.get(id);
    if (flight?.number === number) this.#end(lane, id, flight);
    if (retryAt !== null) this.#reading.retryBy(lane, retryAt.getTime());
  }

  /**
   * Ends a flight that its record tells nothing of: it was given back unsent, somebody else has ended it, or the record before had no answer. Its row is
   * looked for where it was, at once, and among the retries.
   */
  lookAgain(webhookId: string, id: string, number: number): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    this.land(webhookId, id, number, new Date(0));
    this.#reading.goBack(lane, { id, dueAt: null });
  }

  #end(lane: KeptLane, id: string, { loan, number }: Flight): void {
    lane.flying.delete(id);
    if (this.#reading.isPlanned) this.#endedMeanwhile.set(id, number);
    if (loan !== null) lane.loans?.end(loan);
  }

  /** Moves a lane's window by the answers of its attempts. */
  answered(webhookId: string, answers: Answers): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    this.#reading.narrow.add(lane);
    lane.pace = nextWindow(lane.pace, lane.settings.maxInFlight, { ...answers, inFlight: lane.claimed });
  }
}
