/**
 * The queue's state, read from the database alone: pending deliveries, their delay and rate, and the pollers.
 * Lanes of idle webhooks are not read. A lane with pending deliveries is due at some time, muted, or newly arrived; each kind is
 * at the end of an index, and a bounded part of it is read.
 */
import { masked } from '../contract/masking/masking.ts';
import type { Tx } from '../db/pool.ts';
import { ownEnds } from '../webhooks/certificates.ts';

/** Pending deliveries counted of a lane, at most, and of all lanes together, each up to an equal part. */
const COUNTED_A_LANE = 10_000;
const COUNTED_IN_ALL = 100_000;
/** Lanes read: the first by due time, and as many muted or falhando ones. */
const LANES = 5_000;
/** Due deliveries of a lane read for the oldest. */
const MAX_SCANNED = 8;
const RATE_S = 60;

interface LaneLine {
  readonly webhook: string;
  readonly partner: string;
  /** Masked. */
  readonly url: string;
  readonly state: 'active' | 'muted' | 'inactive' | 'falhando' | 'saturated';
  /** Counted up to {@link COUNTED_A_LANE}, or fewer where many lanes have some. */
  readonly pending: number;
  readonly inFlight: number;
  /** For how long its oldest unclaimed due delivery has been due; 0 when none is. */
  readonly dueForS: number;
  /** The fault of ours that keeps its deliveries from being sent. */
  readonly fault: string | null;
}

interface PollerLine {
  readonly poller: string;
  readonly inFlight: number;
  readonly attemptsLastMinute: number;
  /** Since its last sign of life, claim or record. */
  readonly seenAgoS: number;
}

export interface QueueStatus {
  readonly at: Date;
  readonly pending: number;
  /** False when there may be more lanes, or more in a lane, than were read. */
  readonly isExact: boolean;
  readonly inFlight: number;
  /** Muted webhooks' deliveries are not late. */
  readonly oldestDueS: number;
  readonly muted: number;
  /** With or without pending deliveries. */
  readonly falhando: number;
  readonly perSecond: { readonly attempts: number; readonly delivered: number; readonly failed: number };
  /** Those with pending deliveries, latest first. */
  readonly lanes: readonly LaneLine[];
  readonly pollers: readonly PollerLine[];
  readonly certificates: readonly { readonly setting: string; readonly validUntil: Date }[];
}

/** In a transaction that reads by indexes (admin/bounds); `lanes` has at most `most`. */
export async function readQueue(tx: Tx, most: number): Promise<QueueStatus> {
  const { lanes, isExact } = await readLanes(tx);
  const [rate] = await tx<[{ at: Date; attempts: number; delivered: number }]>`
    select now() as at, count(*)::float8 as attempts, count(*) filter (where outcome = 'entregue')::float8 as delivered
    from attempts where recorded_at > now() - ${RATE_S} * interval '1 second'`;
  const served = lanes.filter(({ state }) => state !== 'muted' && state !== 'inactive');
  return {
    at: rate.at,
    pending: sum(lanes, ({ pending }) => pending),
    isExact,
    inFlight: sum(lanes, ({ inFlight }) => inFlight),
    oldestDueS: Math.max(0, ...served.map(({ dueForS }) => dueForS)),
    muted: lanes.filter(({ state }) => state === 'muted').length,
    falhando: lanes.filter(({ state }) => state === 'falhando').length,
    perSecond: {
      attempts: rate.attempts / RATE_S,
      delivered: rate.delivered / RATE_S,
      failed: (rate.attempts - rate.delivered) / RATE_S,
    },
    lanes: lanes.filter(({ pending }) => pending > 0).slice(0, most),
    pollers: await readPollers(tx),
    certificates: await ownEnds(tx),
  };
}

function sum<T>(rows: readonly T[], of: (row: T) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

type FoundLane = LaneLine & { readonly isCounted: boolean; readonly areAllFound: boolean };

/** Lanes with pending deliveries, muted or falhando; each scan begins at the lane's own mark, behind dead entries. */
async function readLanes(tx: Tx): Promise<{ readonly lanes: readonly LaneLine[]; readonly isExact: boolean }> {
  const found = await tx<FoundLane[]>`
    with due as materialized (select webhook_id from waiting_lanes(${LANES})),
    flying as materialized (select webhook_id, delivery_id from flights()),
    stopped as materialized (
      select webhook_id from lanes where muted_at is not null or failing_since is not null order by webhook_id limit ${LANES}
    ),
    lane as materialized (select webhook_id from due union select webhook_id from stopped),
    bound as materialized (
      select least(${COUNTED_A_LANE}, ${COUNTED_IN_ALL} / greatest(1, (select count(*) from lane))) as a_lane,
             (select count(*) from due) < ${LANES} and (select count(*) from stopped) < ${LANES}
             as are_all_found
    )
    select l.webhook_id as webhook, w.partner, w.url, fault.reason as fault,
           case when l.muted_at is not null then 'muted'
                when not w.active then 'inactive'
                when l.failing_since is not null then 'falhando'
                when flying."inFlight" >= least(l.max_in_flight, floor(l.window_size)) then 'saturated' else 'active' end as state,
           waiting.pending, flying."inFlight",
           greatest(coalesce(extract(epoch from now() - waiting.due_at), 0), 0)::float8 as "dueForS",
           waiting.pending < bound.a_lane as "isCounted", bound.are_all_found as "areAllFound"
    from bound
    cross join lane
    join lanes l on l.webhook_id = lane.webhook_id
    cross join lateral (
      select p.name as partner, w.url, w.active and p.active as active
      from webhooks w join partners p on p.id = w.partner_id
      where w.id = lane.webhook_id
      limit 1
    ) w
    cross join lateral (
      select count(*)::int as pending,
             (select min(next_attempt_at) from waiting_of(l, now(), array(select delivery_id from flying), ${MAX_SCANNED})) as due_at
      from (
        select from pending p where p.webhook_id = l.webhook_id order by p.due_at, p.delivery_id limit (select a_lane from bound)
      ) first
    ) waiting
    cross join lateral (
      select count(*)::int as "inFlight" from flying f where f.webhook_id = l.webhook_id
    ) flying
    left join present_send_faults fault on fault.webhook_id = lane.webhook_id
    where waiting.pending > 0 or l.muted_at is not null or l.failing_since is not null
    order by l.muted_at is not null, "dueForS" desc, waiting.pending desc, l.webhook_id`;
  return {
    lanes: found.map(({ webhook, partner, url, state, pending, inFlight, dueForS, fault }) => {
      return { webhook, partner, url: masked(url), state, pending, inFlight, dueForS, fault };
    }),
    isExact: found.every(({ isCounted, areAllFound }) => isCounted && areAllFound),
  };
}

/** Pollers with a sign of life, claims, or attempts recorded in the last minute. */
async function readPollers(tx: Tx): Promise<PollerLine[]> {
  return tx<PollerLine[]>`
    with claim as (select poller, claimed_at as at from flights())
    select poller, sum(claims)::int as "inFlight", sum(attempts)::int as "attemptsLastMinute",
           greatest(extract(epoch from now() - max(at)), 0)::float8 as "seenAgoS"
    from (
      select poller, count(*) as claims, 0 as attempts, max(at) as at from claim group by 1
      union all
      select poller, 0, count(*), max(recorded_at) from attempts
      where recorded_at > now() - ${RATE_S} * interval '1 second' and outcome <> 'desconhecido' group by 1
      union all
      select name, 0, 0, seen_at from processes where role = 'poller'
    ) seen
    group by poller
    order by poller`;
}
