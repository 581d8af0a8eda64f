/**
 * The claim: takes due deliveries for one poller.
 *
 * Invariant: a delivery is sent only by the poller that holds its lease, and no webhook ever has more than its
 * `max_in_flight` deliveries under an unexpired lease, over all pollers: every claim on a webhook holds its lane's row
 * lock, and counts on a snapshot taken after it. A lane's row is found by its ctid, which cannot move while it is locked:
 * by key, each look-up walked all versions that a snapshot held open keeps.
 * Crash before the commit: nothing happened. After it: the lease ends by itself, the next claim on the lane finds that it
 * is lost, and it is ended (lost.ts) before anybody takes it again. `claimed_by` is fresh for every call, so that a claim
 * whose commit is unknown can be released after a reconnect.
 * A function of the database, because a claim is two statements: the second needs a newer snapshot than the one that the
 * lanes were locked on. Sent as two, the second learning from a setting which lanes the first had locked, a claim of one
 * delivery took a fifth longer; with the answers waited for in between, and the lanes re-armed by a third one, a third.
 * A lane that has much is served a few at once and then waits behind all others: each lane that is looked at costs as much
 * as two deliveries. A partner that has much gets a part of the places that are free (places.ts): its lanes are taken from
 * in turn until it has that, and when it had it before, they pause for 5 s, in which any poller's claim passes them
 * over, and sleep as saturated ones do, but that nothing else wakes them. Skipped where they are, they were found by every
 * look at what is due, and hid those behind them.
 * Only SKIP LOCKED is used on deliveries and lanes, so a claim never waits for a record.
 */
import type { Tx } from '../db/pool.ts';
import { DUE_FROM_EVER } from './due-mark.ts';
import { LEASE_S } from './lease.ts';
import type { Shares } from './places.ts';

/** A locked lane, with what the requests of all of its deliveries are made of. */
interface Lane {
  readonly webhookId: string;
  /** False when its registration was deactivated: its due deliveries are to be suspended, not sent. */
  readonly active: boolean;
  readonly partnerId: string;
  readonly url: string;
  readonly sealedSecret: Buffer;
  /** The secret before a rotation, for as long as it still signs. */
  readonly previousSealedSecret: Buffer | null;
  /** The time of the claim, on the database's clock. */
  readonly claimedAt: Date;
  /** Deliveries whose leases ended with no report. */
  readonly lost: readonly string[];
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
}

/** One claimed delivery with all that sending it takes. */
export type ClaimedDelivery = Taken & Omit<Lane, 'active' | 'lost'>;

/**
 * A row of the function as a list of its columns, of which there are many: as objects, a poller with a million deliveries
 * due kept some MiB more. Lanes come first, each with its turn; then, with the turns of their lanes, what was taken from them.
 */
type Row = readonly [turn: number, ...taken: TakenColumns, ...lane: LaneColumns];
type TakenColumns = [id: string | null, number: number, event: string, body: Buffer, loanVersion: number | null];
type LaneColumns = [
  webhookId: string,
  active: boolean,
  partnerId: string,
  url: string,
  sealedSecret: Buffer,
  previousSealedSecret: Buffer | null,
  claimedAt: Date,
  lost: readonly string[] | null,
];

export interface Claimed {
  readonly deliveries: ClaimedDelivery[];
  /** Registrations with due deliveries that are inactive: these are to be suspended. */
  readonly inactive: readonly string[];
  /** Due deliveries whose leases ended with no report: these claims are to be ended. */
  readonly lost: readonly string[];
}

/**
 * Claims up to `limit` due deliveries under the name `claim`; the claim is the caller's when its transaction has committed,
 * which may be sent before the answer is here. No lane is due before `dueFrom`. `shares` are those of the caller's places, of
 * which `limit` are free; null: no partner's share is looked at. `now` replaces the database's clock in tests.
 */
export async function claimDue(
  tx: Tx,
  claim: string,
  limit: number,
  now: Date | null = null,
  dueFrom = DUE_FROM_EVER,
  shares: Shares | null = null,
): Promise<Claimed> {
  const rows = (await tx`
    select * from claim_due(${claim}, ${limit}, ${now}::timestamptz, ${dueFrom}::text::timestamptz,
                            make_interval(secs => ${LEASE_S}), ${shares?.reserve ?? null}::int,
                            ${[...(shares?.holders.keys() ?? [])]}::uuid[],
                            ${[...(shares?.holders.values() ?? [])]}::int[])`
    .values()
    .execute()) as unknown as readonly Row[];
  const lanes = new Map<number, Lane>();
  const deliveries: ClaimedDelivery[] = [];
  for (const row of rows) {
    const [turn, id, number, event, body, loanVersion] = row;
    if (id === null) lanes.set(turn, laneOf(row));
    else deliveries.push(withLane({ id, number, event, body, loanVersion }, lanes.get(turn) as Lane));
  }
  const all = [...lanes.values()];
  return {
    deliveries,
    inactive: all.filter((lane) => !lane.active).map((lane) => lane.webhookId),
    lost: all.flatMap((lane) => lane.lost),
  };
}

function laneOf(row: Row): Lane {
  const [, , , , , , webhookId, active, partnerId, url, sealedSecret, previousSealedSecret, claimedAt, lost] = row;
  return { webhookId, active, partnerId, url, sealedSecret, previousSealedSecret, claimedAt, lost: lost ?? [] };
}

function withLane({ id, number, event, body, loanVersion }: Taken, lane: Lane): ClaimedDelivery {
  const { webhookId, partnerId, url, sealedSecret, previousSealedSecret, claimedAt } = lane;
  return {
    id,
    webhookId,
    partnerId,
    number,
    event,
    body,
    loanVersion,
    url,
    sealedSecret,
    previousSealedSecret,
    claimedAt,
  };
}
