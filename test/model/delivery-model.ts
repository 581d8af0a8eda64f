/**
 * The life of one delivery: a pure state machine that shares no line with the SQL.
 * Times are milliseconds. Nothing here knows lanes, batches or locks.
 */
import { TIMES_S } from '../../src/contract/delivery.ts';
import { nextSlot } from '../../src/contract/schedule.ts';

export type Status = 'pendente' | 'entregue' | 'erro' | 'suspensa';

interface Row {
  readonly number: number;
  readonly late: boolean;
  readonly outcome: string;
}

export interface Life {
  readonly status: Status;
  /** Claims that were not given back; the number of the latest attempt. */
  readonly attempts: number;
  readonly failures: number;
  readonly lostInRow: number;
  /** When it is or was due by the schedule; null when it is not pending. */
  readonly dueAt: number | null;
  readonly claim: string | null;
  readonly claimedAt: number | null;
  /** The attempt rows that an auditor can read. */
  readonly rows: readonly Row[];
}

interface Reported {
  readonly claim: string;
  readonly number: number;
  readonly outcome: string;
  readonly endedAt: number;
}

export type Step =
  | { readonly kind: 'claim'; readonly claim: string; readonly now: number; readonly active: boolean }
  | { readonly kind: 'end'; readonly now: number }
  | ({ readonly kind: 'report' } & Reported)
  | { readonly kind: 'release'; readonly claim: string; readonly now: number; readonly delayMs: number }
  | { readonly kind: 'advance'; readonly byMs: number; readonly now: number };

export interface Effect {
  readonly life: Life;
  /** The rows that this step wrote. */
  readonly rows: readonly Row[];
  /** A POST may leave: the claimer holds the lease of attempt `life.attempts`. */
  readonly sends: boolean;
  /** How a report was taken. */
  readonly standing: 'current' | 'given_up' | 'late' | 'repeated' | null;
}

export const DEADLINE_MS = TIMES_S.response * 1_000;
export const LEASE_MS = TIMES_S.lease * 1_000;
/** A send starts only with more of the lease left. */
export const LEASE_LEFT_TO_SEND_MS = (TIMES_S.response + TIMES_S.record) * 1_000;
const LOST_IN_ROW_THAT_FAILS = 5;

export function born(dueAt: number): Life {
  return {
    status: 'pendente',
    attempts: 0,
    failures: 0,
    lostInRow: 0,
    dueAt,
    claim: null,
    claimedAt: null,
    rows: [],
  };
}

/** Claimed, and its lease has not ended. */
export function isFlying(life: Life, now: number): boolean {
  return life.claimedAt !== null && life.claimedAt + LEASE_MS > now;
}

/** Claimed, and its lease has ended with no report. */
export function isLost(life: Life, now: number): boolean {
  return life.claimedAt !== null && !isFlying(life, now);
}

export function isDue(life: Life, now: number): boolean {
  return life.dueAt !== null && life.dueAt <= now && !isFlying(life, now);
}

/** When it may be claimed next: the end of its lease, or its due time; 0 when it is over. */
export function nextMoment(life: Life): number {
  return life.claimedAt === null ? (life.dueAt ?? 0) : life.claimedAt + LEASE_MS;
}

/** What a claim on its lane may touch: what is due; of an inactive webhook, all that is not in flight. */
export function isOpenToClaims(life: Life, now: number, active: boolean): boolean {
  return isDue(life, now) || (!active && life.status === 'pendente' && life.claim === null);
}

function effect(before: Life, change: Partial<Life>, rows: readonly Row[], rest: Partial<Effect> = {}): Effect {
  const life = { ...before, ...change, rows: rows.length === 0 ? before.rows : [...before.rows, ...rows] };
  return { life, rows, sends: false, standing: null, ...rest };
}

const UNCLAIMED = { claim: null, claimedAt: null };

function failed(life: Life, endedAt: number): Partial<Life> {
  const failures = life.failures + 1;
  const dueAt = nextSlot(failures, endedAt);
  return { ...UNCLAIMED, failures, lostInRow: 0, dueAt, status: dueAt === null ? 'erro' : 'pendente' };
}

/** Whoever ends another's claim writes down that its attempt may have left. */
function lostRows(life: Life): Row[] {
  return life.claim === null ? [] : [{ number: life.attempts, late: false, outcome: 'desconhecido' }];
}

/** What was lost is not taken before its claim is ended; of an inactive webhook it is suspended. */
function claim(life: Life, step: Extract<Step, { kind: 'claim' }>): Effect {
  if (!isOpenToClaims(life, step.now, step.active)) return effect(life, {}, []);
  if (!step.active) return effect(life, { ...UNCLAIMED, status: 'suspensa', dueAt: null }, lostRows(life));
  if (life.claim !== null) return effect(life, {}, []);
  const taken = { attempts: life.attempts + 1, claim: step.claim, claimedAt: step.now };
  return effect(life, taken, [], { sends: true });
}

/** A claim whose lease is over is ended by whoever finds it; the fifth in a row is a failure. */
function end(life: Life, now: number): Effect {
  if (!isLost(life, now)) return effect(life, {}, []);
  const lostInRow = life.lostInRow + 1;
  const change = lostInRow >= LOST_IN_ROW_THAT_FAILS ? failed(life, now) : { ...UNCLAIMED, lostInRow };
  return effect(life, change, lostRows(life));
}

function report(life: Life, step: Reported): Effect {
  const { number, outcome } = step;
  const isDelivered = outcome === 'entregue';
  const delivered: Partial<Life> = { ...UNCLAIMED, status: 'entregue', lostInRow: 0, dueAt: null };
  if (life.claim === step.claim && life.attempts === number) {
    const change = isDelivered ? delivered : failed(life, step.endedAt);
    return effect(life, change, [{ number, late: false, outcome }], {
      standing: change.status === 'erro' ? 'given_up' : 'current',
    });
  }
  const isKnown = life.rows.some((row) => row.number === number && (row.late || row.outcome !== 'desconhecido'));
  if (isKnown) return effect(life, {}, [], { standing: 'repeated' });
  const late = { number, late: true, outcome };
  if (!isDelivered || life.status === 'entregue') return effect(life, {}, [late], { standing: 'late' });
  return effect(life, delivered, [late, ...lostRows(life)], { standing: 'late' });
}

/** The claimer gives back what nothing was sent of: the attempt never happened. */
function release(life: Life, step: Extract<Step, { kind: 'release' }>): Effect {
  if (life.claim !== step.claim) return effect(life, {}, []);
  const dueAt = step.delayMs > 0 ? step.now + step.delayMs : life.dueAt;
  return effect(life, { ...UNCLAIMED, attempts: life.attempts - 1, dueAt }, []);
}

/** What lies ahead comes nearer, and no nearer than now. */
function advance(life: Life, byMs: number, now: number): Effect {
  const { dueAt, claim: holder } = life;
  if (dueAt === null || holder !== null) return effect(life, {}, []);
  return effect(life, { dueAt: Math.min(dueAt, Math.max(dueAt - byMs, now)) }, []);
}

export function take(life: Life, step: Step): Effect {
  if (step.kind === 'claim') return claim(life, step);
  if (step.kind === 'end') return end(life, step.now);
  if (step.kind === 'report') return report(life, step);
  if (step.kind === 'release') return release(life, step);
  return advance(life, step.byMs, step.now);
}
