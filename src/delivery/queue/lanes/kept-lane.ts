/**
 * A lane as its keeper knows it, and the order of its places. Pure.
 * A place is the key of a row of `pending` within a lane: rows due at once first, by id, then the others by due time.
 */
import type { KeptLoans } from './kept-loans.ts';
import { FIRST_WINDOW, NEW_PACE, type Pace } from '../window.ts';

export interface LaneSettings {
  readonly webhookId: string;
  readonly partnerId: string;
  readonly url: string;
  readonly encryptedSecret: Buffer;
  readonly previousEncryptedSecret: Buffer | null;
  readonly previousUntil: Date | null;
  /** Until then only the previous secret signs. */
  readonly signsFrom: Date | null;
  readonly encryptedCredentials: Buffer | null;
  readonly isActive: boolean;
  readonly isMuted: boolean;
  /** One delivery at a time: the lane is `falhando`, or its URL has not answered 2xx yet. */
  readonly isSingle: boolean;
  /** Its last attempt has failed, while the policy for failing endpoints was on. */
  readonly isInRun: boolean;
  /** Its URL has answered 2xx. */
  readonly hasAnswered: boolean;
  readonly quietUntil: Date | null;
  readonly maxInFlight: number;
  readonly windowSize: number;
  /** Each loan's deliveries one at a time, by version. */
  readonly inOrder: boolean;
  /** Until then suspended deliveries hold back later ones of their loan. */
  readonly resumesUntil: Date | null;
  /** Something is due at once. */
  readonly hasDue: boolean;
  readonly retryAt: Date | null;
  /** Flights of claims that are not over. */
  readonly flying: readonly KnownFlight[];
}

/** `loan` is null if order does not matter or the event has no loan. */
interface KnownFlight {
  readonly id: string;
  readonly number: number;
  readonly loan: string | null;
  /** Of another poller's claim. */
  readonly isOthers?: boolean;
}

export interface Place {
  readonly dueAt: string | null;
  readonly id: string;
}

export interface Flight {
  readonly number: number;
  readonly dueAt: string | null;
  readonly sinceMs: number;
  readonly isForeign?: boolean;
  loan: string | null;
}

export interface KeptLane {
  settings: LaneSettings;
  /** Rows due at once are read up to here. */
  cursor: string;
  /** Retries are read up to here. */
  mark: { dueAt: string; id: string };
  retryAtMs: number;
  /** Written by {@link takeOff} and {@link land} alone. */
  flying: ReadonlyMap<string, Flight>;
  /** In flight after its last claim. */
  claimed: number;
  pace: Pace;
  /** Deliveries taken since its last turn in the rotation, while slots were short. */
  served: number;
  /** Set where it delivers each loan in order. */
  loans: KeptLoans | null;
  resumesUntilMs: number;
  /** As its row says: a poll that does not name it takes nothing new of it (lane-reading.ts). */
  isResting: boolean;
  /** It takes nothing new, so that it can be handed back. */
  isLeaving: boolean;
}

export const FIRST = '00000000-0000-0000-0000-000000000000';
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
export const NO_MARK = { dueAt: '-infinity', id: LAST };
/** A lane whose attempt takes longer is held to its first window; otherwise a sometimes hanging receiver would get all slots. */
const LONG_MS = 5_000;

/** Shared by all lanes without a flight, as {@link NEW_PACE} is by new ones: a poller may keep 100,000. */
const NOTHING_FLYING: ReadonlyMap<string, Flight> = new Map();

export function newLane(settings: LaneSettings): KeptLane {
  const flying = new Map(settings.flying.map(({ id, number, loan }) => [id, foreignFlight(number, loan)]));
  return {
    settings,
    cursor: FIRST,
    mark: NO_MARK,
    retryAtMs: Infinity,
    resumesUntilMs: -Infinity,
    flying: flying.size > 0 ? flying : NOTHING_FLYING,
    claimed: 0,
    served: 0,
    pace: settings.windowSize === FIRST_WINDOW ? NEW_PACE : { ...NEW_PACE, window: settings.windowSize },
    loans: null,
    isResting: false,
    isLeaving: false,
  };
}

export function takeOff(lane: KeptLane, id: string, flight: Flight): void {
  if (lane.flying.size === 0) lane.flying = new Map();
  (lane.flying as Map<string, Flight>).set(id, flight);
}

/**
 * Applies the flights of its settings: the loans of known ones, and other pollers' flights. A known lane has new ones of those where it
 * went to another keeper and came back before its poller, which had no answer to a commit, asked. Returns those of others.
 */
export function learnFlights(lane: KeptLane): string[] {
  return lane.settings.flying.flatMap(({ id, number, loan, isOthers }) => {
    const known = lane.flying.get(id);
    if (known?.number === number) known.loan = loan;
    else if (isOthers) takeOff(lane, id, foreignFlight(number, loan));
    return lane.flying.get(id)?.isForeign === true ? [id] : [];
  });
}

function foreignFlight(number: number, loan: string | null): Flight {
  return { number, dueAt: null, sinceMs: Infinity, isForeign: true, loan };
}

export function land(lane: KeptLane, id: string): void {
  if (lane.flying.size > 0) (lane.flying as Map<string, Flight>).delete(id);
  if (lane.flying.size === 0) lane.flying = NOTHING_FLYING;
}

/** Its own next record lets it send more; the server's check for work does not see that. */
export function awaitsItself({ loans, flying }: KeptLane): boolean {
  return loans !== null && (loans.hasEnded || (loans.isHolding && flying.size > 0));
}

/** Nothing of it is sent until its row changes; then it is read from its start. */
export function isOff({ settings: { isActive, isMuted } }: KeptLane): boolean {
  return !isActive || isMuted;
}

/** Nothing of it is sent now, whatever ends. */
export function isStopped(lane: KeptLane, nowMs: number): boolean {
  const { quietUntil } = lane.settings;
  return isOff(lane) || (quietUntil?.getTime() ?? 0) > nowMs;
}

/** How many more of its deliveries may fly at `nowMs`. */
export function roomOf(lane: KeptLane, nowMs: number): number {
  if (lane.isLeaving || isStopped(lane, nowMs)) return 0;
  const { settings, pace, flying } = lane;
  const { isSingle, maxInFlight } = settings;
  const [oldest] = flying.values();
  const isLong = oldest !== undefined && nowMs - oldest.sinceMs >= LONG_MS;
  const cap = Math.min(maxInFlight, Math.floor(pace.window), isSingle ? 1 : Infinity, isLong ? FIRST_WINDOW : Infinity);
  return Math.max(cap - flying.size, 0);
}

/** Due times have one text form (ISO, UTC, microseconds), so they compare as texts. */
export function isBehind(one: Place, other: Place): boolean {
  const [due, from] = [one.dueAt ?? '-infinity', other.dueAt ?? '-infinity'];
  return due === from ? one.id > other.id : due > from;
}

export function timeOf(dueAt: string): number {
  return new Date(dueAt).getTime();
}

export function previousOf(id: string): string {
  const before = (BigInt(`0x${id.replaceAll('-', '')}`) - 1n).toString(16).padStart(32, '0');
  return [before.slice(0, 8), before.slice(8, 12), before.slice(12, 16), before.slice(16, 20), before.slice(20)].join(
    '-',
  );
}
