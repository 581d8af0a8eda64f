/**
 * Lanes: one row per webhook that says when to look at it next.
 *
 * Invariant: a webhook with a pending delivery has a lane whose `next_due_at` is at most the time that delivery is due
 * (or, while the lane is saturated, the earliest end of a lease in flight), or an arrival that will set it so.
 * A crash at any point keeps it: arrivals are deleted in the transaction that arms the lane, and a claim re-arms the
 * lanes it locked before it commits.
 * Why not one queue by due time: with one endpoint hanging on 300,000 due rows, 0 of 17,501 other deliveries were
 * claimed in 25 s; with lanes all were, at 30 ms (p99). Skipping busy endpoints with `<> all (…)` costs 120 ms a claim
 * at a million rows, lanes 5 ms.
 */
import type { Tx } from '../db/pool.ts';

const ARRIVALS_A_TURN = 1_000;

/** A due lane, locked by the claim that will serve it. */
export interface Lane {
  readonly webhookId: string;
  readonly maxInFlight: number;
  /** False when its registration was deactivated: its due deliveries are suspended, not sent. */
  readonly active: boolean;
}

/** True when there are arrivals to arm or a lane is due: one cheap question for an idle poller. */
export async function hasWork(sql: Tx, now: Date | null): Promise<boolean> {
  const [row] = await sql<[{ work: boolean }]>`
    select exists (select from arrivals)
        or exists (select from lanes where next_due_at <= coalesce(${now}::timestamptz, now())) as work`;
  return row.work;
}

/**
 * Turns at most 1,000 arrivals into due lanes; returns how many lanes they were for. The limit stands in a materialized
 * CTE: in an `in (select … limit)` the planner may run it again and again. A saturated lane is left alone: the record
 * that frees its next place wakes it, and until then a look at it would be in vain.
 */
export async function armLanes(sql: Tx, now: Date | null): Promise<number> {
  const result = await sql`
    with next as materialized (
      select id from arrivals order by id limit ${ARRIVALS_A_TURN} for update skip locked
    ),
    taken as (
      delete from arrivals using next where arrivals.id = next.id returning arrivals.webhook_id
    )
    insert into lanes (webhook_id, next_due_at)
    select distinct webhook_id, coalesce(${now}::timestamptz, now()) from taken order by webhook_id
    on conflict (webhook_id) do update
      set next_due_at = least(lanes.next_due_at, excluded.next_due_at)
      where not lanes.saturated`;
  return result.count;
}

/** Locks up to `limit` due lanes, the one that has waited longest first. Never waits. */
export async function lockDueLanes(tx: Tx, limit: number, now: Date | null): Promise<Lane[]> {
  return tx<Lane[]>`
    select l.webhook_id as "webhookId", l.max_in_flight as "maxInFlight", coalesce(w.active, false) as active
    from lanes l
    left join webhooks w on w.id = l.webhook_id
    where l.next_due_at <= coalesce(${now}::timestamptz, now())
    order by l.next_due_at
    limit ${limit}
    for update of l skip locked`;
}

/**
 * Sets when each of the locked lanes is looked at next, on a snapshot that sees the claim just made: now, behind the
 * lanes that wait already, if due deliveries remain; else when the next one is due or a lease ends; or, when saturated,
 * at the earliest end of a lease (a record wakes it sooner).
 */
export async function rearmLanes(tx: Tx, webhookIds: readonly string[], now: Date | null): Promise<void> {
  await tx`
    with clock as materialized (
      select coalesce(${now}::timestamptz, now()) as now
    ),
    state as materialized (
      select l.webhook_id, flying.n >= l.max_in_flight as saturated, flying.first_lease_end, pending.next_due
      from clock, lanes l
      cross join lateral (
        select count(*) as n, min(d.next_attempt_at) as first_lease_end
        from deliveries d
        where d.webhook_id = l.webhook_id and d.claimed_by is not null and d.next_attempt_at > clock.now
      ) flying
      cross join lateral (
        select min(d.next_attempt_at) as next_due
        from deliveries d
        where d.webhook_id = l.webhook_id and d.status = 'pendente'
      ) pending
      where l.webhook_id = any (${webhookIds as string[]}::uuid[])
    )
    update lanes l
    set saturated = state.saturated,
        next_due_at = case
          when state.saturated then state.first_lease_end
          when state.next_due <= clock.now then clock.now
          else state.next_due
        end
    from state, clock
    where l.webhook_id = state.webhook_id`;
}

/**
 * Wakes the saturated ones of these lanes, whose in-flight deliveries have just ended. All are locked first, in id
 * order: a bare `… where saturated` would miss a claim that is about to commit, and the lane would sleep to the end of
 * a lease.
 */
export async function wakeLanes(tx: Tx, webhookIds: readonly string[], now: Date | null): Promise<void> {
  const ids = [...new Set(webhookIds)];
  await Promise.all([
    tx`select from lanes where webhook_id = any (${ids}::uuid[]) order by webhook_id for update`,
    tx`
      update lanes set saturated = false, next_due_at = least(next_due_at, coalesce(${now}::timestamptz, now()))
      where webhook_id = any (${ids}::uuid[]) and saturated`,
  ]);
}

/** Makes the core's kind of wake row: for whoever makes a delivery due earlier than its lane knows. */
export async function insertArrivals(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx`insert into arrivals (webhook_id) select distinct unnest(${webhookIds as string[]}::uuid[])`;
}

/** How long the lane that waits longest has been due, in seconds; 0 when none is. */
export async function readOldestDueS(sql: Tx): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    select coalesce(greatest(extract(epoch from now() - min(next_due_at)), 0), 0)::float8 as seconds from lanes`;
  return row.seconds;
}
