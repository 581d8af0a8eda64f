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
 * Several statements, because each needs a newer snapshot than the one before: in a single statement the lanes would be
 * re-armed from what was true before they were locked, and a wake-up would be lost. Only SKIP LOCKED is used on
 * deliveries and lanes, so a claim never waits for a record.
 */
import type { Tx } from '../db/pool.ts';
import { type Lane, lockDueLanes, rearmLanes, type ServedLane } from './lanes.ts';
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

/** How many deliveries a lane is served in one turn when other lanes wait. */
const QUANTUM = 8;

interface DueDelivery {
  readonly id: string;
  /** The place of its lane among those that are served. */
  readonly lane: number;
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
    take(tx, claim, sendable, lanes, now),
    rearmLanes(tx, servedOf(lanes, due, limit), now),
  ]);
  return { deliveries, lanes: lanes.length };
}

/** The lanes that had their turn, with the last delivery taken from each. Those behind the limit still wait. */
function servedOf(lanes: readonly Lane[], due: readonly DueDelivery[], limit: number): ServedLane[] {
  const lastIds = new Map(due.map(({ lane, id }) => [lane, id]));
  const cutAt = due.length < limit ? null : (due.at(-1)?.lane ?? null);
  return lanes
    .map((lane, index) => ({ ...lane, rank: index + 1 }))
    .filter(({ active, rank }) => !active || cutAt === null || rank <= cutAt)
    .map(({ place, rank }) => ({ place, lastId: lastIds.get(rank) ?? null, isCut: rank === cutAt }));
}

/**
 * Locks the first due deliveries of each lane, up to its free places, one lane after the other until there are `limit`.
 * A lane that has much is served a few at once and then waits behind all others: each lane that is looked at costs as
 * much as two deliveries.
 */
async function lockDueDeliveries(
  tx: Tx,
  lanes: readonly Lane[],
  limit: number,
  now: Date | null,
): Promise<DueDelivery[]> {
  const quantum = Math.max(QUANTUM, Math.floor(limit / lanes.length));
  return tx<DueDelivery[]>`
    with clock as materialized (
      select t.now, t.now - ${LEASE_S} * interval '1 second' as lease_start
      from (select coalesce(${now}::timestamptz, now()) as now) t
    ),
    lane as materialized (
      select served.rank, l.webhook_id, l.scan_from, l.max_in_flight - flying.n as places
      from clock,
           unnest(${lanes.map((lane) => (lane.active ? lane.place : null))}::text[]::tid[]) with ordinality as served (place, rank)
      join lanes l on l.ctid = served.place
      cross join lateral (
        select count(*) as n
        from deliveries d
        where d.webhook_id = l.webhook_id and d.status = 'pendente' and d.claimed_at > clock.lease_start
          and d.next_attempt_at between l.scan_from and l.flying_to
      ) flying
      order by served.rank
    )
    select due.id, lane.rank::int as lane, due.claimed_by is not null as "isLost", due.lost_in_row as "lostInRow"
    from clock, lane
    cross join lateral (
      select d.id, d.claimed_by, d.lost_in_row
      from deliveries d
      where d.webhook_id = lane.webhook_id and d.status = 'pendente'
        and d.next_attempt_at between lane.scan_from and clock.now
        and (d.claimed_at is null or d.claimed_at <= clock.lease_start)
      order by d.next_attempt_at
      limit greatest(least(lane.places, ${quantum}::int), 0)
      for update skip locked
    ) due
    limit ${limit}`;
}

/** Writes the rows of attempts that were lost, and returns what is to be sent. */
async function settleLost(tx: Tx, due: readonly DueDelivery[], now: Date | null): Promise<readonly DueDelivery[]> {
  const lost = due.filter((delivery) => delivery.isLost);
  if (lost.length === 0) return due;
  const isSpent = (delivery: DueDelivery) => delivery.isLost && delivery.lostInRow + 1 >= LOST_IN_ROW_BOOKS_FAILURE;
  const spent = due.filter(isSpent).map((delivery) => delivery.id);
  await logLostAttempts(
    tx,
    lost.map((delivery) => delivery.id),
  );
  if (spent.length > 0) await bookLostAsFailure(tx, spent, now);
  return due.filter((delivery) => !isSpent(delivery));
}

type Taken = Pick<ClaimedDelivery, 'id' | 'number' | 'event' | 'body' | 'loanVersion' | 'claimedAt'>;

async function take(
  tx: Tx,
  claim: string,
  due: readonly DueDelivery[],
  lanes: readonly Lane[],
  now: Date | null,
): Promise<ClaimedDelivery[]> {
  if (due.length === 0) return [];
  const rows = await tx<Taken[]>`
    update deliveries d
    set attempts = d.attempts + 1,
        lost_in_row = d.lost_in_row + (d.claimed_by is not null)::int,
        claimed_by = ${claim},
        claimed_at = coalesce(${now}::timestamptz, now())
    from messages m
    where d.id = any (${due.map((delivery) => delivery.id)}::uuid[]) and m.event_id = d.event_id
    returning d.id, d.attempts as number, m.type as event, m.body, m.loan_version as "loanVersion", d.claimed_at as "claimedAt"`;
  const laneOf = new Map(due.map((delivery) => [delivery.id, delivery.lane]));
  return rows.map((row) => {
    const { webhookId, partnerId, url, sealedSecret, previousSealedSecret } = lanes[
      (laneOf.get(row.id) ?? 0) - 1
    ] as Lane;
    return Object.assign(row, { webhookId, partnerId, url, sealedSecret, previousSealedSecret });
  });
}
