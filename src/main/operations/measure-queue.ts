/**
 * How late deliveries are, how deep the queue is, and which webhooks are the cause. Read from the tables alone, so it
 * is true even when every poller is dead.
 *
 * Each statement walks an index and stops at a bound, so it costs the same at ten million rows: `order by` names the
 * index's own order, and the sessions of `metrics` have sequential scans off. There must never be an index on the due
 * time alone (src/delivery/queue/claim.ts). So due deliveries are found through three things: due lanes, saturated
 * lanes, and arrivals that no poller has armed yet.
 */
import type { Tx } from '../../db/pool.ts';
import { areWritesRefused } from '../../db/refused-writes.ts';
import type { Readings, Sample } from '../../telemetry/readings.ts';

/** What is younger may simply not have been claimed yet. */
const OVERDUE_AFTER_S = 5;
/** Deliveries counted of each kind. */
export const COUNTED = 10_000;
/** Lanes looked at of each kind, and arrivals. */
const LANES = 1_000;

const WAITS = ['poller', 'cap', 'database'] as const;
type Waits = (typeof WAITS)[number];

interface OverdueRow {
  readonly waitsFor: Waits;
  readonly late: number;
  readonly oldestS: number | null;
}

/** The webhooks of which something may be due, from when on, and what it waits for: three bounded looks, as CTEs. */
function lanesWithDueWork(sql: Tx) {
  return sql`
    due as materialized (
      select webhook_id, scan_from, 'poller' as waits_for
      from lanes
      where next_due_at <= now()
      order by next_due_at
      limit ${LANES}
    ),
    saturated as materialized (
      select webhook_id, scan_from, 'cap' as waits_for
      from (
        select webhook_id, scan_from, saturated
        from lanes
        where next_due_at > now() and next_due_at <= now() + lease()
        order by next_due_at
        limit ${LANES}
      ) soon
      where saturated
    ),
    woken as materialized (
      select arrived.webhook_id, least(arrived.due_at, lane.scan_from) as scan_from,
             case when lane.saturated and arrived.due_at > '-infinity' then 'cap' else 'poller' end as waits_for
      from (
        select webhook_id, min(due_at) as due_at
        from (select webhook_id, due_at from arrivals order by tx limit ${LANES}) oldest
        where due_at is not null
        group by webhook_id
      ) arrived
      cross join lateral (
        select saturated, scan_from from lanes
        where lanes.webhook_id = arrived.webhook_id
        order by version desc
        limit 1
      ) lane
    ),
    lane as materialized (
      select webhook_id, min(scan_from) as scan_from, max(waits_for) as waits_for
      from (table due union all table saturated union all table woken) found
      group by webhook_id
    )`;
}

/**
 * Due and not taken: by pollers (a lane that is due, an arrival), or because all slots of the webhook's cap, or of its
 * partner's share, are in use. Where the database refuses writes, all of it waits for that: what is in flight cannot be recorded,
 * and looks like a cap.
 */
export async function measureOverdue(sql: Tx): Promise<Readings> {
  const rows = await sql<OverdueRow[]>`
    with clock as materialized (
      select now() as now, now() - lease() as lease_start,
             now() - ${OVERDUE_AFTER_S} * interval '1 second' as late_before
    ),
    ${lanesWithDueWork(sql)}
    select kind.waits_for as "waitsFor", counted.late::int, oldest.seconds as "oldestS"
    from clock
    cross join (values ('poller'), ('cap')) kind (waits_for)
    cross join lateral (
      select count(*) as late
      from (
        select
        from lane
        cross join lateral (
          select d.id
          from deliveries d
          where d.webhook_id = lane.webhook_id and d.status = 'pendente'
            and d.next_attempt_at between lane.scan_from and clock.late_before
            and (d.claimed_at is null or d.claimed_at <= clock.lease_start)
          order by d.next_attempt_at
          limit ${COUNTED}
        ) d
        where lane.waits_for = kind.waits_for
        limit ${COUNTED}
      ) some_of_them
    ) counted
    cross join lateral (
      select extract(epoch from clock.now - min(d.next_attempt_at))::float8 as seconds
      from lane
      cross join lateral (
        select d.next_attempt_at
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pendente'
          and d.next_attempt_at between lane.scan_from and clock.now
          and (d.claimed_at is null or d.claimed_at <= clock.lease_start)
        order by d.next_attempt_at
        limit 1
      ) d
      where lane.waits_for = kind.waits_for
    ) oldest`;
  const isRefused = areWritesRefused();
  const of = (reason: Waits) => rows.filter(({ waitsFor }) => (isRefused ? 'database' : waitsFor) === reason);
  const most = (reason: Waits, value: (row: OverdueRow) => number) => Math.max(0, ...of(reason).map(value));
  return {
    overdue: WAITS.map((waits_for) => ({ labels: { waits_for }, value: most(waits_for, ({ late }) => late) })),
    oldestOverdue: WAITS.map((waits_for) => ({
      labels: { waits_for },
      value: most(waits_for, ({ oldestS }) => oldestS ?? 0),
    })),
    capped: cappedAt(COUNTED, { overdue: Math.max(...rows.map(({ late }) => late)) }),
  };
}

interface DepthRow {
  readonly first: number;
  readonly retrying: number;
  readonly suspended: number;
  readonly failed: number;
  /** Entries of the indexes of what is pending, and of what has stopped, as of the last ANALYZE or VACUUM. */
  readonly knownPending: number;
  readonly knownStopped: number;
}

/**
 * What is pending, split by whether an attempt has failed, and what has stopped. Where counting stopped at its bound, the statistics
 * tell the rest, so that a gauge never stands still while what it tells grows.
 */
export async function measureDepth(sql: Tx): Promise<Readings> {
  const [{ first, retrying, suspended, failed, knownPending, knownStopped }] = await sql<[DepthRow]>`
    select pending.*, suspended.*, failed.*,
           (select reltuples::float8 from pg_class where oid = 'deliveries_due'::regclass) as "knownPending",
           (select reltuples::float8 from pg_class where oid = 'deliveries_stopped'::regclass) as "knownStopped"
    from (
      select count(*) filter (where failures = 0)::int as first, count(*) filter (where failures > 0)::int as retrying
      from (
        select failures from deliveries
        where status = 'pendente'
        order by webhook_id, next_attempt_at
        limit ${COUNTED}
      ) some_of_them
    ) pending
    cross join (
      select count(*)::int as suspended
      from (
        select from deliveries
        where status = 'suspensa' and status in ('erro', 'suspensa')
        order by webhook_id, event_id
        limit ${COUNTED}
      ) some_of_them
    ) suspended
    cross join (
      select count(*)::int as failed
      from (
        select from deliveries
        where status = 'erro' and status in ('erro', 'suspensa')
        order by webhook_id, event_id
        limit ${COUNTED}
      ) some_of_them
    ) failed`;
  const beyond = (counted: number, known: number) => (counted < COUNTED ? counted : Math.max(counted, known));
  const pending = first + retrying;
  const scale = pending === 0 ? 1 : beyond(pending, knownPending) / pending;
  const isFailedFew = failed < COUNTED;
  return {
    deliveries: states({
      first: Math.round(first * scale),
      retrying: Math.round(retrying * scale),
      suspensa: isFailedFew ? beyond(suspended, knownStopped - failed) : suspended,
      erro: beyond(failed, knownStopped - suspended),
    }),
    capped: cappedAt(COUNTED, { pending, suspensa: suspended, erro: failed }),
  };
}

export function states(counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
}

export function cappedAt(bound: number, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([measure, count]) => ({ labels: { measure }, value: count >= bound ? 1 : 0 }));
}
