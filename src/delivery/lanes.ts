/**
 * Lanes: one row per webhook that says when to look at it next, and where.
 *
 * Invariants. A webhook with a pending delivery has a lane whose `next_due_at` is at most the time that delivery is due
 * (or, while deliveries of it are claimed, the earliest end of their leases), or an arrival that will set it so. Every
 * pending delivery is due at or after its lane's `scan_from`, or an arrival says from when on; every claimed one is due
 * at or before `flying_to`.
 * A crash at any point keeps them: arrivals are deleted in the statement that arms the lane, or puts them back, a claim
 * re-arms the lanes that it locked in the statement that takes from them, and whoever ends a claim, or makes anything
 * due earlier, leaves an arrival in the same transaction: what that statement did not see yet arms the lane again.
 * Why not one queue by due time: with one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were
 * claimed in 25 s; with lanes all were, at 30 ms (p99). Skipping busy endpoints with `<> all (…)` costs 120 ms a claim
 * at a million rows, lanes 5 ms.
 * Why the marks: what was delivered leaves dead index entries where each scan begins, lanes leave them at the times they
 * were due (due-mark.ts), and nothing removes them while a snapshot is held open. For the same reason a lane has a version
 * and no unique key: with the key, and a scan of all times, the median claim on 100 lanes went from 22 to 141 ms in a minute
 * of such a snapshot, and now to 50.
 */
import type { Fragment, Statement, Tx } from '../db/pool.ts';
import { LEASE_S } from './lease.ts';

/** A due lane, locked by the claim that will serve it. */
export interface Lane {
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
}

/** What a claim does with each lane goes through lists of all of its lanes. */
const LANES_A_CLAIM = 128;

/**
 * Locks up to `limit` due lanes, the one that has waited longest first, and leaves their places to {@link lockedLanes}; none
 * is due before `dueFrom`. Never waits. A lane's row stays at its place until the claim that locked it changes it.
 */
export function lockDueLanes(tx: Tx, limit: number, now: Date | null, dueFrom: string): Statement<Lane> {
  return tx<Lane[]>`
    with locked as materialized (
      select l.ctid as place, l.webhook_id
      from lanes l
      where l.next_due_at between ${dueFrom}::text::timestamptz and coalesce(${now}::timestamptz, now())
      order by l.next_due_at
      limit ${Math.min(limit, LANES_A_CLAIM)}
      for update skip locked
    ),
    left_here as materialized (
      select set_config('carteiro.locked', coalesce(array_agg(place)::text, '{}'), true) from locked
    )
    select l.webhook_id as "webhookId", coalesce(w.active, false) as active, w.partner_id as "partnerId", w.url,
           w.sealed_secret as "sealedSecret",
           case when w.previous_until > coalesce(${now}::timestamptz, now()) then w.previous_sealed_secret end
             as "previousSealedSecret",
           coalesce(${now}::timestamptz, now()) as "claimedAt"
    from left_here, locked l
    left join webhooks w on w.id = l.webhook_id`;
}

/** The places of the lanes that this transaction has locked. */
export function lockedPlaces(tx: Tx): Fragment {
  return tx`coalesce(nullif(current_setting('carteiro.locked', true), ''), '{}')::tid[]`;
}

/**
 * The locked lanes, counted from 1, each with its free places and with what is claimed of it: how many are in flight,
 * since when, and from when to when all are or were due.
 */
export function lockedLanes(tx: Tx): Fragment {
  return tx`
    select row_number() over () as turn, l.ctid as place, l.webhook_id, l.next_due_at, l.max_in_flight, l.scan_from, l.next_scan_from,
           case when w.active then l.max_in_flight - claimed.flying else 0 end as places, claimed.*
    from clock, unnest(${lockedPlaces(tx)}) as locked (place)
    join lanes l on l.ctid = locked.place
    left join webhooks w on w.id = l.webhook_id
    cross join lateral (
      select count(*) filter (where d.claimed_at > clock.lease_start) as flying,
             min(d.claimed_at) filter (where d.claimed_at > clock.lease_start) as first_claimed_at,
             min(d.next_attempt_at) as first_due, max(d.next_attempt_at) as last_due
      from deliveries d
      where d.webhook_id = l.webhook_id and d.status = 'pendente' and d.claimed_at is not null
        and d.next_attempt_at between l.scan_from and l.flying_to
    ) claimed`;
}

/**
 * Sets when and where each lane that had its turn is looked at next: now, behind the lanes that wait already, if due
 * deliveries remain; else when the next one is due or a lease ends; or, when saturated, at the earliest end of a lease
 * (a free place wakes it sooner). Once the claim is full the lanes behind have not had their turn, and the one whose turn
 * was cut short keeps its place before them, unless it was the first: with few places free it would be served for ever.
 */
export function rearmedLanes(tx: Tx, limit: number): Fragment {
  return tx`
    update lanes l
    set version = l.version + 1,
        saturated = s.flying >= s.max_in_flight,
        next_due_at = case
          when s.flying >= s.max_in_flight then s.first_claimed_at + ${LEASE_S} * interval '1 second'
          when s.due_at <= clock.now then case when s.is_cut then s.next_due_at else clock.now end
          else least(s.due_at, s.first_claimed_at + ${LEASE_S} * interval '1 second')
        end,
        scan_from = least(s.next_scan_from, s.first_due, s.due_at, clock.now),
        next_scan_from = least(s.first_due, s.due_at, clock.now),
        flying_to = s.last_due
    from clock, (
      select lane.place, lane.max_in_flight, lane.next_due_at, lane.next_scan_from, lane.turn = full_at.turn and lane.turn > 1 as is_cut,
             lane.flying + coalesce(mine.n, 0) as flying,
             coalesce(lane.first_claimed_at, case when mine.n > 0 then clock.now end) as first_claimed_at,
             least(lane.first_due, mine.first_due) as first_due,
             greatest(lane.last_due, mine.last_due) as last_due,
             least(open.due_at, mine.next_due_at) as due_at
      from clock
      cross join (select max(turn) filter (where rank = ${limit}) as turn from due) full_at
      cross join lateral (select * from lane limit full_at.turn) lane
      left join mine on mine.turn = lane.turn
      left join lateral (
        select d.next_attempt_at as due_at
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente' and d.next_attempt_at >= lane.scan_from
          and (d.claimed_at is null or d.claimed_at <= clock.lease_start) and d.id <> all (coalesce(mine.ids, '{}'))
        order by d.next_attempt_at
        limit 1
      ) open on true
    ) s
    where l.ctid = s.place`;
}

/** How long the lane that waits longest has been due, in seconds; 0 when none is. */
export async function readOldestDueS(sql: Tx): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    select coalesce(greatest(extract(epoch from now() - min(next_due_at)), 0), 0)::float8 as seconds from lanes`;
  return row.seconds;
}
