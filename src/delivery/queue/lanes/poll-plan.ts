/**
 * The plan of a poll: what it asks of the server within slots, shares and windows. Pure.
 * A poll reads on at most {@link LANES_PER_POLL} places, each for an equal part. Of new rows it takes up to {@link MOST_EACH} of a lane;
 * lanes that may have fewer are named.
 */
import { isBehind, type KeptLane, type Place, roomOf } from './kept-lane.ts';
import type { LoanAsk, LoanAsks } from './kept-loans.ts';
import type { Slots } from '../slots.ts';

export interface Ask {
  readonly closed: readonly string[];
  readonly tight: readonly string[];
  readonly tightRooms: readonly number[];
  readonly most: number;
  readonly hooks: readonly string[];
  readonly fromDues: readonly string[];
  readonly fromIds: readonly string[];
  readonly toDues: readonly string[];
  readonly rooms: readonly number[];
  readonly flying: readonly string[];
  readonly wakeAtMs: number;
  /** For lanes that deliver each loan in order; null: none. */
  readonly loans: LoanAsks | null;
}

/** A row of a poll's result: see poll_lanes.sql. */
export type Found =
  | {
      readonly kind: 'due';
      readonly webhookId: string;
      readonly id: string;
      readonly number: number;
      readonly dueAt: string | null;
      readonly loan: string | null;
    }
  | {
      /** How far an ask has read its lane in order: to this place, or to the end. */
      readonly kind: 'read';
      readonly webhookId: string;
      readonly ask: number;
      readonly id: string | null;
      readonly dueAt: string | null;
      readonly hasMore: boolean;
      readonly isHolding: boolean;
    }
  | { readonly kind: 'left'; readonly webhookId: string; readonly id: string; readonly dueAt: string | null }
  | { readonly kind: 'next'; readonly webhookId: string; readonly dueAt: string | null }
  | { readonly kind: 'shut'; readonly webhookId: string };

/** New rows taken of one lane at most; the rest is read later. */
export const MOST_EACH = 8;
const LANES_PER_POLL = 128;
/** Of them: loans' next deliveries. Long loans would else leave no place to lanes that have more. */
const LOANS_PER_POLL = 64;

export class PollPlan {
  readonly #nowMs: number;
  readonly #shares: ReturnType<typeof sharing>;
  readonly #quantum: number;
  readonly #taken = new Map<KeptLane, number>();
  readonly #closed: string[] = [];
  readonly #tight: string[] = [];
  readonly #tightRooms: number[] = [];
  readonly #reads: { hook: string; fromDue: string; fromId: string; toDue: string; room: number }[] = [];
  readonly #flying: string[] = [];
  readonly #loans: LoanAsk[] = [];
  #wakeAtMs = Infinity;
  /** Lanes that get less for want of slots. */
  readonly cut = new Set<KeptLane>();
  /** The lanes in order that it asks, with their count of ended flights. */
  readonly ends = new Map<KeptLane, number>();

  /** `nowMs` is on the database's clock; `ready` is the number of lanes that have more. */
  constructor(slots: Slots, nowMs: number, ready: number) {
    this.#nowMs = nowMs;
    this.#shares = sharing(slots);
    this.#quantum = Math.max(MOST_EACH, Math.floor(slots.free / Math.max(1, Math.min(ready, LANES_PER_POLL))));
  }

  wakeBy(atMs: number): void {
    this.#wakeAtMs = Math.min(this.#wakeAtMs, atMs);
  }

  read(lane: KeptLane, from: Place, toDue: string, loan: string | null = null): void {
    if (this.#reads.length + this.#loans.length >= LANES_PER_POLL) return;
    if (loan !== null && this.#loans.length >= LOANS_PER_POLL) return;
    const wanted = Math.min(this.#roomOf(lane), loan === null ? this.#quantum - lane.served : 1);
    const room = Math.min(wanted, this.#shares.room(lane.settings.partnerId));
    if (room <= 0) return;
    if (room < wanted) this.cut.add(lane);
    this.#shares.take(lane.settings.partnerId, room);
    this.#taken.set(lane, (this.#taken.get(lane) ?? 0) + room);
    const [hook, fromDue] = [lane.settings.webhookId, from.dueAt ?? '-infinity'];
    if (lane.loans !== null) {
      const place = { from_due: fromDue, from_id: from.id, to_due: toDue };
      const isResuming = this.#nowMs < lane.resumesUntilMs;
      this.#loans.push({ place: this.#loans.length + 1, hook, loan, ...place, room, is_resuming: isResuming });
      this.ends.set(lane, lane.loans.ends);
      return;
    }
    this.#reads.push({ hook, fromDue, fromId: from.id, toDue, room });
    for (const [id, flight] of lane.flying)
      if (flight.isForeign || isBehind({ id, dueAt: flight.dueAt }, from)) this.#flying.push(id);
  }

  /** Limits the new rows of lanes without room for {@link MOST_EACH}: the `narrow` ones, or all while slots are scarce. */
  bound(narrow: ReadonlySet<KeptLane>, all: Iterable<KeptLane>, ready: ReadonlySet<KeptLane>): void {
    for (const lane of this.#shares.isScarce() ? all : narrow) {
      const room = this.#roomOf(lane);
      const id = lane.settings.webhookId;
      if (ready.has(lane) || room <= 0 || this.#shares.room(lane.settings.partnerId) < MOST_EACH) {
        if (!lane.isResting) this.#closed.push(id);
      } else if (room < MOST_EACH || lane.isResting) {
        this.#tight.push(id);
        this.#tightRooms.push(Math.min(room, MOST_EACH));
      }
    }
  }

  get ask(): Ask {
    const reads = this.#reads;
    const loans = { asks: this.#loans, ...flightsOf([...this.ends.keys()]) };
    return {
      closed: this.#closed,
      tight: this.#tight,
      tightRooms: this.#tightRooms,
      most: this.#shares.left(),
      hooks: reads.map(({ hook }) => hook),
      fromDues: reads.map(({ fromDue }) => fromDue),
      fromIds: reads.map(({ fromId }) => fromId),
      toDues: reads.map(({ toDue }) => toDue),
      rooms: reads.map(({ room }) => room),
      flying: this.#flying,
      wakeAtMs: this.#wakeAtMs,
      loans: this.#loans.length > 0 ? loans : null,
    };
  }

  #roomOf(lane: KeptLane): number {
    return roomOf(lane, this.#nowMs) - (this.#taken.get(lane) ?? 0);
  }
}

function flightsOf(lanes: readonly KeptLane[]): Omit<LoanAsks, 'asks'> {
  const flights = lanes.flatMap(({ settings, flying }) =>
    [...flying].map(([id, { loan }]) => ({ id, hook: settings.webhookId, loan })),
  );
  const busy = flights.flatMap(({ hook, loan }) => (loan === null ? [] : [{ hook, loan }]));
  return { busy, flying: flights.map(({ id }) => id) };
}

/**
 * What each partner may take of the free slots, as if this poll's asks were taken (slots.ts): one by one, while the partner holds fewer
 * than 8, or than 16 for each slot that stays free beside the reserve.
 */
function sharing(slots: Slots) {
  const { reserve, holders } = slots.shares();
  const more = new Map<string, number>();
  let left = slots.free;
  const roomOf = (held: number) => Math.min(left, Math.max(8 - held, Math.floor((16 * (left - reserve) - held) / 17)));
  const room = (partnerId: string) => roomOf(slots.heldBy(partnerId) + (more.get(partnerId) ?? 0));
  const known = () => [...holders.keys(), ...more.keys()].map(room);
  return {
    /** New rows allowed: all of them may be one partner's. */
    left: () => Math.min(roomOf(0), ...known().filter((one) => one >= MOST_EACH)),
    isScarce: () => known().some((one) => one < MOST_EACH),
    room,
    take(partnerId: string, count: number) {
      left -= count;
      more.set(partnerId, (more.get(partnerId) ?? 0) + count);
    },
  };
}
