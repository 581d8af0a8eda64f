/**
 * The claim: one poll on the lanes that a poller keeps (poll_lanes.sql).
 * Invariant: only its lane's keeper claims a delivery, under the lane's row lock. Nothing is sent before the claim has committed, which
 * names it in `claims`. The keeper itself knows what is in flight (lanes/kept-lanes.ts).
 * Crash before the commit: nothing happened. After it: others free the dead poller's lanes and end its claims
 * (maintenance/dead-pollers.ts). A claim whose commit is unknown is deleted by its number: nothing of it was sent.
 * All locks are taken with SKIP LOCKED, so a claim never waits.
 */
import type { Tx } from '../../db/pool.ts';
import type { KeptLane } from './lanes/kept-lane.ts';
import { type Ask, type Found, MOST_EACH } from './lanes/poll-plan.ts';
import type { Addressed } from '../sending/headers.ts';

/** How an idle poller waits for work, in milliseconds: the maximum, and the interval of its checks. */
export interface PollWait {
  readonly ms: number;
  readonly pollIntervalMs: number;
}

export interface ClaimedDelivery extends Addressed {
  /** The number of this attempt, 1 for the first. */
  readonly number: number;
  /** W3C trace context of the event; null: none. */
  readonly traceparent: string | null;
  /** Salt of the body's digest for the evidence. Null: the event was erased and is not sent; empty: it lost a CPF. */
  readonly salt: Buffer | null;
  /** When it was due (null: at once); part of the key of its row of `pending`. */
  readonly dueAt: string | null;
  readonly webhookId: string;
  readonly partnerId: string;
  readonly url: string;
  readonly encryptedSecret: Buffer;
  /** The secret before a rotation, while it still signs. */
  readonly previousEncryptedSecret: Buffer | null;
  /** Credentials that the receiver demands; null: none. */
  readonly encryptedCredentials: Buffer | null;
  /** On the database's clock. */
  readonly claimedAt: Date;
}

/** The columns of poll_lanes. Rows come as lists: as objects they took some MiB more with a million deliveries due. */
type Row = readonly [
  id: string | null,
  number: number,
  webhookId: string | null,
  event: string,
  body: Buffer,
  loanVersion: number | null,
  traceparent: string | null,
  salt: Buffer | null,
  isTest: boolean | null,
  dueAt: string | null,
  tag: string,
];

export type DueRow = Extract<Found, { kind: 'due' }> &
  Pick<ClaimedDelivery, 'event' | 'body' | 'loanVersion' | 'traceparent' | 'salt' | 'isTest'>;

export interface Poll {
  readonly rows: readonly (DueRow | Exclude<Found, { kind: 'due' }>)[];
  /** The snapshot up to which `pending` is followed. */
  readonly seen: string;
  /** Identifies the server and its start. */
  readonly server: string;
  /** The lease there. */
  readonly leaseMs: number;
  readonly claimedAt: Date;
  /** A lane of this poller has changed. */
  readonly hasChanged: boolean;
}

/**
 * Polls as `poller` with the claim `number`; all its claims below `doneBelow` are recorded. `now` replaces the database's clock in
 * tests.
 */
export async function pollLanes(
  tx: Tx,
  { poller, number, doneBelow }: { readonly poller: string; readonly number: number; readonly doneBelow: number },
  seen: string,
  ask: Ask,
  pollWait: PollWait | null = null,
  now: Date | null = null,
): Promise<Poll> {
  const wakeAt = Number.isFinite(ask.wakeAtMs) ? new Date(ask.wakeAtMs) : null;
  const rows = (await tx`
    select * from poll_lanes(${poller}, ${number}, ${doneBelow}, ${now}::timestamptz, ${seen}::text::pg_snapshot,
      ${ask.closed as string[]}::uuid[], ${ask.tight as string[]}::uuid[], ${ask.tightRooms as number[]}::int[],
      ${ask.most}, ${MOST_EACH}, ${ask.hooks as string[]}::uuid[],
      ${ask.fromDues as string[]}::text[]::timestamptz[], ${ask.fromIds as string[]}::uuid[],
      ${ask.toDues as string[]}::text[]::timestamptz[], ${ask.rooms as number[]}::int[], ${ask.flying as string[]}::uuid[],
      ${wakeAt}::timestamptz, ${pollWait?.ms ?? null}::float8, ${pollWait?.pollIntervalMs ?? 0}::float8
      ${ask.loans === null ? tx`` : tx`, ${JSON.stringify(ask.loans)}::text::json`})`
    .values()
    .execute()) as unknown as Row[];
  const last = rows.at(-1) as Row;
  const followed = rows.find((row) => row[0] === null && row[2] === null) as Row;
  return {
    rows: rows.filter((row) => row[2] !== null).map(foundOf),
    seen: followed[10] ?? seen,
    server: last[3],
    leaseMs: last[1],
    claimedAt: new Date(last[9] as string),
    hasChanged: last[8] === true,
  };
}

function foundOf([id, number, hook, event, body, loanVersion, traceparent, salt, isTest, dueAt, tag]: Row) {
  const webhookId = hook as string;
  if (id !== null) {
    const key = { kind: 'due' as const, webhookId, id, number, dueAt, loan: tag };
    return { ...key, event, body, loanVersion, traceparent, salt, isTest: isTest === true };
  }
  if (tag === 'shut') return { kind: tag, webhookId } as const;
  if (tag === 'read') {
    const [hasMore, isHolding] = [loanVersion === 1, isTest === true];
    return { kind: tag, webhookId, ask: number, id: event as string | null, dueAt, hasMore, isHolding } as const;
  }
  return tag === 'next'
    ? ({ kind: tag, webhookId, dueAt } as const)
    : ({ kind: 'left', webhookId, id: tag, dueAt } as const);
}

export function deliveryOf(row: DueRow, { settings }: KeptLane, claimedAt: Date): ClaimedDelivery {
  const { kind: _, loan: __, ...due } = row;
  const isLater = settings.signsFrom !== null && settings.signsFrom > claimedAt;
  const signsBeside = !isLater && settings.previousUntil !== null && settings.previousUntil > claimedAt;
  return {
    ...due,
    partnerId: settings.partnerId,
    url: settings.url,
    encryptedSecret: isLater
      ? (settings.previousEncryptedSecret ?? settings.encryptedSecret)
      : settings.encryptedSecret,
    previousEncryptedSecret: signsBeside ? settings.previousEncryptedSecret : null,
    encryptedCredentials: settings.encryptedCredentials,
    claimedAt,
  };
}

/** Deletes the poller's claims with these numbers: recorded ones, or one of unknown commit. Returns how many. */
export async function clearClaims(tx: Tx, poller: string, from: number, below: number): Promise<number> {
  const { count } = await tx`
    delete from claims where poller = ${poller} and number >= ${from}::bigint and number < ${below}::bigint`;
  return count;
}
