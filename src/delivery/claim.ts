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
import { leaveToCommit, type Tx } from '../db/pool.ts';
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

/** A delivery as the claim found it; what is sent of it is null when another claim on it was lost. */
type Due = {
  readonly id: string;
  /** Its lane's place among the lanes of the claim, and its own among all that were due, both from 1. */
  readonly lane: number;
  readonly rank: number;
} & (Sent | Lost);
interface Sent {
  readonly lostInRow: null;
  readonly number: number;
  readonly event: string;
  readonly body: Buffer;
  readonly loanVersion: number | null;
  readonly claimedAt: Date;
}
interface Lost {
  /** Attempts lost in a row before the one that is found lost now. */
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

  const inactive = lanes.filter((lane) => !lane.active).map((lane) => lane.webhookId);
  if (inactive.length > 0) await suspendUnclaimed(tx, inactive, now);

  const due = await takeDue(tx, claim, lanes, limit, now);
  const lost = due.filter((delivery) => delivery.lostInRow !== null);
  const taken = lost.length === 0 ? [] : await takeLost(tx, claim, lost, now);
  leaveToCommit(tx, rearmLanes(tx, servedOf(lanes, due, limit), now));
  const sent = [...due.filter((delivery) => delivery.lostInRow === null), ...taken];
  return { deliveries: sent.map((delivery) => withLane(delivery, lanes)), lanes: lanes.length };
}

function withLane(delivery: Due & Sent, lanes: readonly Lane[]): ClaimedDelivery {
  const { webhookId, partnerId, url, sealedSecret, previousSealedSecret } = lanes[delivery.lane - 1] as Lane;
  return Object.assign(delivery, { webhookId, partnerId, url, sealedSecret, previousSealedSecret });
}

/** The lanes that had their turn, with the last delivery taken from each. Those behind the limit still wait. */
function servedOf(lanes: readonly Lane[], due: readonly Due[], limit: number): ServedLane[] {
  const inOrder = due.toSorted((one, other) => one.rank - other.rank);
  const lastIds = new Map(inOrder.map(({ lane, id }) => [lane, id]));
  const cutAt = due.length < limit ? null : (inOrder.at(-1)?.lane ?? null);
  return lanes
    .map((lane, index) => ({ ...lane, rank: index + 1 }))
    .filter(({ active, rank }) => !active || cutAt === null || rank <= cutAt)
    .map(({ place, rank }) => ({ place, lastId: lastIds.get(rank) ?? null, isCut: rank === cutAt }));
}

/** What a claim sets on a delivery `d`, besides what it makes of lost attempts. */
function claimed(tx: Tx, claim: string, now: Date | null) {
  return tx`attempts = d.attempts + 1, claimed_by = ${claim}, claimed_at = coalesce(${now}::timestamptz, now())`;
}

/**
 * Locks the first due deliveries of each lane, up to its free places, one lane after the other until there are `limit`,
 * and claims those that nobody has claimed. A lane that has much is served a few at once and then waits behind all
 * others: each lane that is looked at costs as much as two deliveries.
 */
async function takeDue(tx: Tx, claim: string, lanes: readonly Lane[], limit: number, now: Date | null): Promise<Due[]> {
  const open = lanes.filter((lane) => lane.active);
  const quantum = Math.max(QUANTUM, Math.floor(limit / lanes.length));
  return tx<Due[]>`
    with clock as materialized (
      select t.now, t.now - ${LEASE_S} * interval '1 second' as lease_start
      from (select coalesce(${now}::timestamptz, now()) as now) t
    ),
    due as materialized (
      select lane.rank as lane, (row_number() over ())::int as rank, d.*
      from clock,
           unnest(${open.map((lane) => lane.webhookId)}::uuid[], ${open.map((lane) => lane.maxInFlight)}::int[],
                  ${open.map((lane) => lane.scanFrom)}::text[]::timestamptz[],
                  ${open.map((lane) => lane.flyingTo)}::text[]::timestamptz[],
                  ${open.map((lane) => lanes.indexOf(lane) + 1)}::int[]) as lane (webhook_id, cap, scan_from, flying_to, rank)
      cross join lateral (
        select count(*) as n
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente' and d.claimed_at > clock.lease_start
          and d.next_attempt_at between lane.scan_from and lane.flying_to
      ) flying
      cross join lateral (
        select d.id, d.event_id, case when d.claimed_by is not null then d.lost_in_row end as lost_in_row
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente'
          and d.next_attempt_at between lane.scan_from and clock.now
          and (d.claimed_at is null or d.claimed_at <= clock.lease_start)
        order by d.next_attempt_at
        limit greatest(least(lane.cap - flying.n, ${quantum}::int), 0)
        for update skip locked
      ) d
      limit ${limit}
    ),
    taken as (
      update deliveries d
      set ${claimed(tx, claim, now)}
      from due, messages m
      where d.id = due.id and due.lost_in_row is null and m.event_id = due.event_id
      returning d.id, due.lane, due.rank, d.attempts, m.type, m.body, m.loan_version, d.claimed_at
    )
    select id, lane, rank, null as "lostInRow", attempts as number, type as event, body, loan_version as "loanVersion",
           claimed_at as "claimedAt"
    from taken
    union all
    select id, lane, rank, lost_in_row, null, null, null, null, null from due where lost_in_row is not null`;
}

/**
 * Takes over what other claims have lost: writes the rows of the lost attempts, books a failure where that was one too
 * many, and claims the rest.
 */
async function takeLost(
  tx: Tx,
  claim: string,
  lost: readonly (Due & Lost)[],
  now: Date | null,
): Promise<(Due & Sent)[]> {
  const isSpent = ({ lostInRow }: Lost): boolean => lostInRow + 1 >= LOST_IN_ROW_BOOKS_FAILURE;
  const spent = lost.filter((delivery) => isSpent(delivery)).map((delivery) => delivery.id);
  const mended = new Map(lost.filter((delivery) => !isSpent(delivery)).map((delivery) => [delivery.id, delivery]));
  await logLostAttempts(
    tx,
    lost.map((delivery) => delivery.id),
  );
  if (spent.length > 0) await bookLostAsFailure(tx, spent, now);
  const rows = await tx<(Pick<Due, 'id'> & Sent)[]>`
    update deliveries d
    set lost_in_row = d.lost_in_row + 1, ${claimed(tx, claim, now)}
    from messages m
    where d.id = any (${[...mended.keys()]}::uuid[]) and m.event_id = d.event_id
    returning d.id, null as "lostInRow", d.attempts as number, m.type as event, m.body, m.loan_version as "loanVersion",
              d.claimed_at as "claimedAt"`;
  return rows.map((row) => {
    const { lane, rank } = mended.get(row.id) as Due;
    return Object.assign(row, { lane, rank });
  });
}
