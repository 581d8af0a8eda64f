/**
 * The claim: takes due deliveries for one poller.
 *
 * Invariant: a delivery is sent only by the poller that holds its lease, and no webhook ever has more than its
 * `max_in_flight` deliveries under an unexpired lease, over all pollers: every claim on a webhook holds its lane's row
 * lock, and counts on a snapshot taken after it.
 * Crash before the commit: nothing happened. After it: the lease ends by itself, the delivery is due again, and the
 * claim that takes it over writes the lost attempt's row. `claimed_by` is fresh for every call, so that a claim whose
 * commit is unknown can be released after a reconnect.
 * Several statements, because each needs a newer snapshot than the one before: in a single statement the lanes would be
 * re-armed from what was true before they were locked, and a wake-up would be lost. Only SKIP LOCKED is used on
 * deliveries and lanes, so a claim never waits for a record.
 */
import type { Tx } from '../db/pool.ts';
import { type Lane, lockDueLanes, rearmLanes } from './lanes.ts';
import { LEASE_S, LOST_IN_ROW_BOOKS_FAILURE } from './lease.ts';
import { bookLostAsFailure, logLostAttempts } from './lost.ts';
import { suspendUnclaimed } from './suspend.ts';

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

interface DueDelivery {
  readonly id: string;
  readonly isLost: boolean;
  readonly lostInRow: number;
}

/**
 * Claims up to `limit` due deliveries under the name `claim` and commits with the caller's transaction. `now` replaces
 * the database's clock in tests. Returns the claimed deliveries and whether any lane was due at all.
 */
export async function claimDue(
  tx: Tx,
  claim: string,
  limit: number,
  now: Date | null = null,
): Promise<{ deliveries: ClaimedDelivery[]; lanes: number }> {
  const lanes = await lockDueLanes(tx, limit, now);
  if (lanes.length === 0) return { deliveries: [], lanes: 0 };

  const inactive = lanes.filter((lane) => !lane.active);
  if (inactive.length > 0) {
    await suspendUnclaimed(
      tx,
      inactive.map((lane) => lane.webhookId),
      now,
    );
  }

  const due = await lockDueDeliveries(tx, lanes, limit, now);
  const sendable = await settleLost(tx, due, now);
  const [deliveries] = await Promise.all([
    take(tx, claim, sendable, now),
    rearmLanes(
      tx,
      lanes.map((lane) => lane.webhookId),
      now,
    ),
  ]);
  return { deliveries, lanes: lanes.length };
}

/**
 * Locks the first due deliveries of each lane, up to its free places and to an equal share of `limit`: with as many
 * lanes as places each gets one, so that no lane waits behind another's backlog.
 */
async function lockDueDeliveries(
  tx: Tx,
  lanes: readonly Lane[],
  limit: number,
  now: Date | null,
): Promise<DueDelivery[]> {
  const active = lanes.filter((lane) => lane.active);
  if (active.length === 0) return [];
  const share = Math.floor(limit / active.length);
  return tx<DueDelivery[]>`
    with clock as materialized (
      select coalesce(${now}::timestamptz, now()) as now
    ),
    lane as materialized (
      select l.webhook_id, least(l.cap - flying.n, ${share}::int) as places
      from clock,
           unnest(${active.map((lane) => lane.webhookId)}::uuid[], ${active.map((lane) => lane.maxInFlight)}::int[])
             as l (webhook_id, cap)
      cross join lateral (
        select count(*) as n
        from deliveries d
        where d.webhook_id = l.webhook_id and d.claimed_by is not null and d.next_attempt_at > clock.now
      ) flying
    )
    select due.id, due.claimed_by is not null as "isLost", due.lost_in_row as "lostInRow"
    from clock, lane
    cross join lateral (
      select d.id, d.claimed_by, d.lost_in_row
      from deliveries d
      where d.webhook_id = lane.webhook_id and d.status = 'pendente' and d.next_attempt_at <= clock.now
      order by d.next_attempt_at
      limit greatest(lane.places, 0)
      for update skip locked
    ) due`;
}

/** Writes the rows of attempts that were lost, and returns the ids that are to be sent. */
async function settleLost(tx: Tx, due: readonly DueDelivery[], now: Date | null): Promise<string[]> {
  const lost = due.filter((delivery) => delivery.isLost);
  if (lost.length === 0) return due.map((delivery) => delivery.id);
  const isSpent = (delivery: DueDelivery) => delivery.isLost && delivery.lostInRow + 1 >= LOST_IN_ROW_BOOKS_FAILURE;
  const spent = due.filter(isSpent).map((delivery) => delivery.id);
  await logLostAttempts(
    tx,
    lost.map((delivery) => delivery.id),
  );
  if (spent.length > 0) await bookLostAsFailure(tx, spent, now);
  return due.filter((delivery) => !isSpent(delivery)).map((delivery) => delivery.id);
}

async function take(tx: Tx, claim: string, ids: readonly string[], now: Date | null): Promise<ClaimedDelivery[]> {
  if (ids.length === 0) return [];
  return tx<ClaimedDelivery[]>`
    update deliveries d
    set attempts = d.attempts + 1,
        lost_in_row = d.lost_in_row + (d.claimed_by is not null)::int,
        claimed_by = ${claim},
        claimed_at = coalesce(${now}::timestamptz, now()),
        next_attempt_at = coalesce(${now}::timestamptz, now()) + ${LEASE_S} * interval '1 second'
    from messages m, webhooks w
    where d.id = any (${ids as string[]}::uuid[]) and m.event_id = d.event_id and w.id = d.webhook_id
    returning d.id, d.webhook_id as "webhookId", d.partner_id as "partnerId", d.attempts as number,
              m.type as event, m.body, m.loan_version as "loanVersion", w.url, w.sealed_secret as "sealedSecret",
              case when w.previous_until > d.claimed_at then w.previous_sealed_secret end as "previousSealedSecret",
              d.claimed_at as "claimedAt"`;
}
