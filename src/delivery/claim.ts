/**
 * The claim: takes due deliveries for one poller.
 *
 * Invariant: a delivery is sent only by the poller that holds its lease, and no webhook ever has more than its
 * `max_in_flight` deliveries under an unexpired lease, over all pollers: every claim on a webhook holds its lane's row
 * lock, and counts on a snapshot taken after it. A lane's row is found by its ctid, which cannot move while it is locked:
 * by key, each look-up walked all versions that a snapshot held open keeps.
 * Crash before the commit: nothing happened. After it: the lease ends by itself, the delivery is due again, and the
 * claim that takes it over writes the lost attempt's row. `claimed_by` is fresh for every call, so that a claim whose
 * commit is unknown can be released after a reconnect.
 * Two statements, because the second needs a newer snapshot than the one that the lanes were locked on, and one round
 * trip: the second learns from a setting which lanes the first has locked, and the commit travels behind it. With the
 * answers waited for in between, and the lanes re-armed by a third one, a claim of one delivery took a sixth longer.
 * Only SKIP LOCKED is used on deliveries and lanes, so a claim never waits for a record.
 */
import type { Fragment, Statement, Tx } from '../db/pool.ts';
import { DUE_FROM_EVER } from './due-mark.ts';
import { type Lane, lockDueLanes, lockedLanes, lockedPlaces, rearmedLanes } from './lanes.ts';
import { LEASE_S, LOST_IN_ROW_BOOKS_FAILURE } from './lease.ts';
import { bookedFailures, lostAttemptRows } from './lost.ts';

/** One claimed delivery with all that sending it takes. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly partnerId: string;
  /** The number of this attempt, 1 for the first. */
  readonly number: number;
  readonly event: string;
  readonly body: Buffer;
  /** The loan's version at the event; null where there is no loan. */
  readonly loanVersion: number | null;
  readonly url: string;
  readonly sealedSecret: Buffer;
  /** The secret before a rotation, for as long as it still signs. */
  readonly previousSealedSecret: Buffer | null;
  readonly claimedAt: Date;
}

/** How many deliveries a lane is served in one turn when other lanes wait. */
const QUANTUM = 8;

/** A delivery as it was taken; the rest of what sending it takes is its lane's. */
type Taken = Omit<ClaimedDelivery, Exclude<keyof Lane, 'webhookId'>>;

export interface Claimed {
  readonly deliveries: ClaimedDelivery[];
  /** Registrations with due deliveries that are inactive: these are to be suspended. */
  readonly inactive: readonly string[];
}

/**
 * Claims up to `limit` due deliveries under the name `claim`; the claim is the caller's when its transaction has committed,
 * which may be sent before the answer is here. No lane is due before `dueFrom`. `now` replaces the database's clock in
 * tests.
 */
export async function claimDue(
  tx: Tx,
  claim: string,
  limit: number,
  now: Date | null = null,
  dueFrom = DUE_FROM_EVER,
): Promise<Claimed> {
  const [lanes, taken] = await Promise.all([
    lockDueLanes(tx, limit, now, dueFrom).execute(),
    takeDue(tx, claim, limit, now).execute(),
  ]);
  const laneOf = new Map(lanes.map((lane) => [lane.webhookId, lane]));
  return {
    deliveries: taken.map((delivery) => withLane(delivery, laneOf.get(delivery.webhookId) as Lane)),
    inactive: lanes.filter((lane) => !lane.active).map((lane) => lane.webhookId),
  };
}

function withLane({ id, webhookId, number, event, body, loanVersion }: Taken, lane: Lane): ClaimedDelivery {
  const { partnerId, url, sealedSecret, previousSealedSecret, claimedAt } = lane;
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

/**
 * Locks the first due deliveries of each locked lane, up to its free places, one lane after the other until there are
 * `limit`, and claims them. Of those that another claim has lost it writes the attempt's row first, and books a failure
 * where that was one too many. A lane that has much is served a few at once and then waits behind all others: each lane
 * that is looked at costs as much as two deliveries.
 */
function takeDue(tx: Tx, claim: string, limit: number, now: Date | null): Statement<Taken> {
  return tx<Taken[]>`
    with clock as materialized (
      select t.now, t.now - ${LEASE_S} * interval '1 second' as lease_start
      from (select coalesce(${now}::timestamptz, now()) as now) t
    ),
    lane as materialized (${lockedLanes(tx)}),
    due as materialized (
      select lane.turn, row_number() over () as rank, d.*
      from clock, lane
      cross join lateral (
        select d.id, d.event_id, d.next_attempt_at, d.failures, d.claimed_by is not null as is_lost,
               d.claimed_by is not null and d.lost_in_row + 1 >= ${LOST_IN_ROW_BOOKS_FAILURE} as is_spent
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente'
          and d.next_attempt_at between lane.scan_from and clock.now
          and (d.claimed_at is null or d.claimed_at <= clock.lease_start)
        order by d.next_attempt_at
        limit greatest(least(lane.places, ${quantum(tx, limit)}), 0)
        for update skip locked
      ) d
      limit ${limit}
    ),
    logged as (${lostAttemptRows(tx, tx`array(select id from due where is_lost)`)}),
    booked as (${bookedFailures(tx)}),
    taken as (
      update deliveries d
      set attempts = d.attempts + 1, lost_in_row = d.lost_in_row + due.is_lost::int, claimed_by = ${claim},
          claimed_at = clock.now
      from clock, due, messages m
      where d.id = due.id and not due.is_spent and m.event_id = due.event_id
      returning d.id, d.webhook_id, d.attempts, m.type, m.body, m.loan_version
    ),
    mine as materialized (${perLane(tx)}),
    rearmed as (${rearmedLanes(tx, limit)})
    select id, webhook_id as "webhookId", attempts as number, type as event, body, loan_version as "loanVersion"
    from taken`;
}

/** How many deliveries each lane is served in one turn. */
function quantum(tx: Tx, limit: number): Fragment {
  return tx`greatest(${QUANTUM}, ${limit} / (select nullif(cardinality(${lockedPlaces(tx)}), 0)))`;
}

/** What the claim took from each lane, and when the next attempt is due of what it booked a failure on. */
function perLane(tx: Tx): Fragment {
  return tx`
    select due.turn, count(*) filter (where not due.is_spent) as n,
           min(due.next_attempt_at) filter (where not due.is_spent) as first_due,
           max(due.next_attempt_at) filter (where not due.is_spent) as last_due,
           array_agg(due.id) as ids, min(booked.next_attempt_at) as next_due_at
    from due
    left join booked on booked.id = due.id
    group by due.turn`;
}
