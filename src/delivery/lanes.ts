/**
 * Lanes: one row per webhook that says when to look at it next, and where.
 *
 * Invariants. A webhook with a pending delivery has a lane whose `next_due_at` is at most the time that delivery is due
 * (or, while deliveries of it are claimed, the earliest end of their leases), or an arrival that will set it so. Every
 * pending delivery is due at or after its lane's `scan_from`, or an arrival says from when on; every claimed one is due
 * at or before `flying_to`.
 * A crash at any point keeps them: arrivals are deleted in the transaction that arms the lane, a claim re-arms the lanes
 * it locked before it commits, and whoever ends a claim leaves an arrival in the same transaction.
 * Why not one queue by due time: with one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were
 * claimed in 25 s; with lanes all were, at 30 ms (p99). Skipping busy endpoints with `<> all (…)` costs 120 ms a claim
 * at a million rows, lanes 5 ms.
 * Why the two marks: what was delivered leaves dead index entries where each scan begins, and nothing removes them while
 * a snapshot is held open.
 */
import type { Tx } from '../db/pool.ts';
import { LEASE_S } from './lease.ts';

/** A due lane, locked by the claim that will serve it. */
export interface Lane {
  readonly webhookId: string;
  /** Its row, which stays where it is until the claim that locked it changes it. */
  readonly place: string;
  readonly maxInFlight: number;
  /** Its marks, as the database writes them: a `Date` would lose their microseconds. */
  readonly scanFrom: string;
  readonly flyingTo: string | null;
  /** False when its registration was deactivated: its due deliveries are suspended, not sent. */
  readonly active: boolean;
  readonly partnerId: string;
  readonly url: string;
  readonly sealedSecret: Buffer;
  /** The secret before a rotation, for as long as it still signs. */
  readonly previousSealedSecret: Buffer | null;
}

/** Locks up to `limit` due lanes, the one that has waited longest first. Never waits. */
export async function lockDueLanes(tx: Tx, limit: number, now: Date | null): Promise<Lane[]> {
  return tx<Lane[]>`
    select l.ctid::text as place, l.webhook_id as "webhookId", l.max_in_flight as "maxInFlight",
           l.scan_from::text as "scanFrom", l.flying_to::text as "flyingTo", coalesce(w.active, false) as active,
           w.partner_id as "partnerId", w.url, w.sealed_secret as "sealedSecret",
           case when w.previous_until > coalesce(${now}::timestamptz, now()) then w.previous_sealed_secret end
             as "previousSealedSecret"
    from lanes l
    left join webhooks w on w.id = l.webhook_id
    where l.next_due_at <= coalesce(${now}::timestamptz, now())
    order by l.next_due_at
    limit ${limit}
    for update of l skip locked`;
}

/** A lane that a claim has looked at, and the last delivery that it took from it. */
export interface ServedLane {
  readonly place: string;
  readonly lastId: string | null;
  /** The claim was full before the lane's turn was over: it keeps its place before the lanes behind it. */
  readonly isCut: boolean;
}

/**
 * Sets when and where each of the locked lanes is looked at next, on a snapshot that sees the claim just made: now, behind
 * the lanes that wait already, if due deliveries remain; else when the next one is due or a lease ends; or, when
 * saturated, at the earliest end of a lease (a free place wakes it sooner).
 */
export async function rearmLanes(tx: Tx, served: readonly ServedLane[], now: Date | null): Promise<void> {
  const cut = served.find((lane) => lane.isCut)?.place ?? null;
  await tx`
    with clock as materialized (
      select t.now, t.now - ${LEASE_S} * interval '1 second' as lease_start
      from (select coalesce(${now}::timestamptz, now()) as now) t
    ),
    state as materialized (
      select served.place, flying.*, open.due_at
      from clock,
           unnest(${served.map((lane) => lane.place)}::text[]::tid[], ${served.map((lane) => lane.lastId)}::uuid[])
             as served (place, last_id)
      join lanes l on l.ctid = served.place
      left join deliveries last on last.id = served.last_id
      cross join lateral (
        select count(*) filter (where d.claimed_at > clock.lease_start) as n,
               min(d.claimed_at) filter (where d.claimed_at > clock.lease_start) as first_claimed_at,
               min(d.next_attempt_at) as first_due, max(d.next_attempt_at) as last_due
        from deliveries d
        where d.webhook_id = l.webhook_id and d.status = 'pendente' and d.claimed_at is not null
          and d.next_attempt_at between l.scan_from and greatest(l.flying_to, last.next_attempt_at)
      ) flying
      left join lateral (
        select d.next_attempt_at as due_at
        from deliveries d
        where d.webhook_id = l.webhook_id and d.status = 'pendente' and d.next_attempt_at >= l.scan_from
          and (d.claimed_at is null or d.claimed_at <= clock.lease_start)
        order by d.next_attempt_at
        limit 1
      ) open on true
    )
    update lanes l
    set saturated = s.n >= l.max_in_flight,
        next_due_at = case
          when s.n >= l.max_in_flight then s.first_claimed_at + ${LEASE_S} * interval '1 second'
          when s.due_at <= clock.now then case when s.place = ${cut}::text::tid then l.next_due_at else clock.now end
          else least(s.due_at, s.first_claimed_at + ${LEASE_S} * interval '1 second')
        end,
        scan_from = least(s.first_due, s.due_at, clock.now),
        flying_to = s.last_due
    from state s, clock
    where l.ctid = s.place`;
}

/** How long the lane that waits longest has been due, in seconds; 0 when none is. */
export async function readOldestDueS(sql: Tx): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    select coalesce(greatest(extract(epoch from now() - min(next_due_at)), 0), 0)::float8 as seconds from lanes`;
  return row.seconds;
}
