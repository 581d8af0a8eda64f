/**
 * The claim: takes due deliveries for one poller.
 *
 * Invariant: a delivery is sent only by the poller that holds its lease, and no webhook ever has more than its
 * `max_in_flight` deliveries under an unexpired lease, over all pollers, nor is given one beyond its window (next_window.sql):
 * every claim on a webhook holds its lane's row lock, and counts on a snapshot taken after it. A lane's row is found by its
 * ctid, which cannot move while it is locked: by key, each look-up walked all versions that a snapshot held open keeps.
 * Crash before the commit: nothing happened. After it: others see that the poller's lock is gone and end the claim
 * (upkeep/dead-pollers.ts); without a lock the lease ends by itself, the next claim on the lane reports the delivery as lost,
 * and the claim is ended (lost.ts) before anybody takes the delivery again. `claimed_by` is fresh for every call, so that a
 * claim whose commit is unknown can be released after a reconnect.
 * A turn is a function of the database because it is several statements, one on a newer snapshot than the other: what is in
 * flight is counted on a newer one than that on which the lanes were locked. The first attempts of a few lanes are claimed by the
 * keys that their arrivals name (drizzle/functions/serve_arrivals.sql): 0.57 ms of CPU for one, and 0.96 if its lane is armed. The
 * rest is about `claim_due`. Measured alternatives, for a claim of one delivery: two pipelined statements (locked lanes passed
 * in a session setting) +20 %; three statements with a round trip each +33 %.
 * Fairness between lanes: a lane with many due deliveries is served a few at a time and then waits behind the others.
 * Visiting a lane costs about as much as one more delivery. Fairness between partners: a partner takes slots up to its share
 * (slots.ts); then its lanes are not looked at, and stay due for the other pollers.
 * Deliveries and lanes are only locked with SKIP LOCKED, so a claim never waits for a record.
 */
import type { Tx } from '../../db/pool.ts';
import { DUE_FROM_EVER } from './upkeep/due-mark.ts';
import type { Patience } from './arrivals.ts';
import type { Shares } from './slots.ts';

/** A locked lane, with what the requests of all of its deliveries are made of. */
interface Lane {
  readonly webhookId: string;
  /** False when its webhook was deactivated: its due deliveries are to be suspended, not sent. */
  readonly active: boolean;
  readonly partnerId: string;
  readonly url: string;
  readonly encryptedSecret: Buffer;
  /** The secret before a rotation, for as long as it still signs. */
  readonly previousEncryptedSecret: Buffer | null;
  /** What its receiver demands; null: nothing. */
  readonly encryptedCredentials: Buffer | null;
  /** The time of the claim, on the database's clock. */
  readonly claimedAt: Date;
  /** Deliveries whose leases ended with no report. */
  readonly lost: readonly string[];
  /** True when no slot is left: it waits for the record of one that is in flight. */
  readonly isFull: boolean;
}

/** A delivery as it was taken; the rest of what sending it takes is its lane's. */
interface Taken {
  readonly id: string;
  /** The number of this attempt, 1 for the first. */
  readonly number: number;
  readonly event: string;
  readonly body: Buffer;
  /** The loan's version at the event; null where there is no loan. */
  readonly loanVersion: number | null;
  /** The trace that the event belongs to, as W3C trace context has it; null: none. */
  readonly traceparent: string | null;
  readonly isTest: boolean;
  /** The event's; with it the body is hashed for the evidence. Null where the event was erased: it is not sent. */
  readonly salt: Buffer | null;
}

/** One claimed delivery with all that sending it takes. */
export type ClaimedDelivery = Taken & Omit<Lane, 'active' | 'lost' | 'isFull'>;

/** The columns of claim_due: rows of what was taken, then of the lanes. */
interface Columns {
  /** Null in a lane's row, as the columns before `webhookId`. Of those behind it, a delivery's row has only `isTest`. */
  id: string | null;
  number: number;
  event: string;
  body: Buffer;
  loanVersion: number | null;
  traceparent: string | null;
  salt: Buffer | null;
  webhookId: string;
  active: boolean;
  partnerId: string;
  url: string;
  encryptedSecret: Buffer;
  previousEncryptedSecret: Buffer | null;
  encryptedCredentials: Buffer | null;
  claimedAt: Date;
  lost: readonly string[] | null;
  isFull: boolean;
  isTest: boolean | null;
}

/** The columns that take_turn has beside these, which are null but in its first row. */
interface TurnColumns extends Columns {
  arrived: number | null;
  server: string;
  leaseMs: number;
}

/** As take_turn has it. */
const ARRIVALS_A_TURN = 4_000;

/** Where each column is in a row. Rows come as lists: as objects, a poller with a million deliveries due kept some MiB more. */
export const ORDINAL = {
  id: 0,
  number: 1,
  event: 2,
  body: 3,
  loanVersion: 4,
  traceparent: 5,
  salt: 6,
  webhookId: 7,
  active: 8,
  partnerId: 9,
  url: 10,
  encryptedSecret: 11,
  previousEncryptedSecret: 12,
  encryptedCredentials: 13,
  claimedAt: 14,
  lost: 15,
  isFull: 16,
  isTest: 17,
  arrived: 18,
  server: 19,
  leaseMs: 20,
} as const satisfies Record<keyof TurnColumns, number>;

export type Row = { readonly [Name in keyof TurnColumns as (typeof ORDINAL)[Name]]: TurnColumns[Name] };

export interface Claimed {
  readonly deliveries: ClaimedDelivery[];
  /** Webhooks with due deliveries that are inactive: these are to be suspended. */
  readonly inactive: readonly string[];
  /** Due deliveries whose leases ended with no report: these claims are to be ended. */
  readonly lost: readonly string[];
  /** Webhooks without a free slot. */
  readonly full: ReadonlySet<string>;
}

/** A poller's turn: its claim, and what else it found. */
export interface Turn extends Claimed {
  /** How many arrivals it took. */
  readonly arrived: number;
  /** True when there may be more: the turn was full. */
  readonly more: boolean;
  /** Which start of which server this was. */
  readonly server: string;
  /** How long a claim is its poller's there. */
  readonly leaseMs: number;
}

/**
 * Waits as a poller behind others. True when there is work as old as the patience demands, for the caller to claim
 * (drizzle/functions/wait_behind_others.sql). The rest as in {@link takeTurn}.
 */
export async function waitBehindOthers(
  sql: Tx,
  { ms, napMs, lagMs = 0 }: Patience,
  now: Date | null = null,
  dueFrom = DUE_FROM_EVER,
  sated: readonly string[] = [],
): Promise<boolean> {
  const [{ hasWork }] = await sql<[{ hasWork: boolean }]>`
    select wait_behind_others(${now}::timestamptz, ${ms}, ${napMs}, ${lagMs}, ${dueFrom}::text::timestamptz,
                              ${sated as string[]}::uuid[]) as "hasWork"`;
  return hasWork;
}

/**
 * A poller's turn, as a transaction of its own: waits for work as long as `patience` lasts (null: not at all), takes arrivals,
 * and claims up to `limit` due deliveries under the name `claim`, first attempts the short way
 * (drizzle/functions/take_turn.sql).
 * The claim is the caller's when its transaction has committed; the commit may be sent before the answer arrives. No lane is due
 * before `dueFrom`. `shares` are those of the caller's slots, of which `limit` are free; null: no partner's share is looked at.
 * `now` replaces the database's clock in tests.
 */
export async function takeTurn(
  tx: Tx,
  claim: string,
  limit: number,
  now: Date | null = null,
  dueFrom = DUE_FROM_EVER,
  shares: Shares | null = null,
  patience: Patience | null = null,
): Promise<Turn> {
  const [first, ...rows] = (await tx`
    select * from take_turn(${claim}, ${limit}, ${now}::timestamptz, ${dueFrom}::text::timestamptz,
                            ${shares?.reserve ?? null}::int,
                            ${[...(shares?.holders.keys() ?? [])]}::uuid[],
                            ${[...(shares?.holders.values() ?? [])]}::int[],
                            ${(shares?.sated ?? []) as string[]}::uuid[],
                            ${patience?.ms ?? null}::float8, ${patience?.napMs ?? 0})`
    .values()
    .execute()) as unknown as readonly [Row, ...Row[]];
  const arrived = first[ORDINAL.arrived] ?? 0;
  const { [ORDINAL.server]: server, [ORDINAL.leaseMs]: leaseMs } = first;
  return { ...claimedOf(rows), arrived, more: arrived >= ARRIVALS_A_TURN, server, leaseMs };
}

/** The rows of `claim_due`, read. */
export function claimedOf(rows: readonly Row[]): Claimed {
  const all = rows.filter((row) => row[ORDINAL.id] === null).map(laneOf);
  const byWebhook = new Map(all.map((lane) => [lane.webhookId, lane]));
  return {
    deliveries: rows
      .filter((row) => row[ORDINAL.id] !== null)
      .map((row) => deliveryOf(row, byWebhook.get(row[ORDINAL.webhookId]) as Lane)),
    inactive: all.filter((lane) => !lane.active).map((lane) => lane.webhookId),
    lost: all.flatMap((lane) => lane.lost),
    full: new Set(all.filter((lane) => lane.isFull).map((lane) => lane.webhookId)),
  };
}

function laneOf(row: Row): Lane {
  return {
    webhookId: row[ORDINAL.webhookId],
    active: row[ORDINAL.active],
    partnerId: row[ORDINAL.partnerId],
    url: row[ORDINAL.url],
    encryptedSecret: row[ORDINAL.encryptedSecret],
    previousEncryptedSecret: row[ORDINAL.previousEncryptedSecret],
    encryptedCredentials: row[ORDINAL.encryptedCredentials],
    claimedAt: row[ORDINAL.claimedAt],
    lost: row[ORDINAL.lost] ?? [],
    isFull: row[ORDINAL.isFull],
  };
}

function deliveryOf(row: Row, lane: Lane): ClaimedDelivery {
  const { webhookId, partnerId, url, encryptedSecret, previousEncryptedSecret, encryptedCredentials, claimedAt } = lane;
  return {
    id: row[ORDINAL.id] as string,
    number: row[ORDINAL.number],
    event: row[ORDINAL.event],
    body: row[ORDINAL.body],
    loanVersion: row[ORDINAL.loanVersion],
    traceparent: row[ORDINAL.traceparent],
    isTest: row[ORDINAL.isTest] === true,
    salt: row[ORDINAL.salt],
    webhookId,
    partnerId,
    url,
    encryptedSecret,
    previousEncryptedSecret,
    encryptedCredentials,
    claimedAt,
  };
}
