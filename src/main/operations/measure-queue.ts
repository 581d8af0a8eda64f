/**
 * How late deliveries are, how deep the queue is, and which webhooks are the cause: from tables alone, so true without a poller.
 *
 * Each statement walks an index and stops at a bound, so it costs the same at ten million rows: `order by` names the index's order,
 * and the sessions of `metrics` have sequential scans off. What is due is found by the key of `pending`, webhook by webhook
 * (waiting_lanes.sql).
 */
import type { Tx } from '../../db/pool.ts';
import { areWritesRefused } from '../../db/refused-writes.ts';
import type { Readings, Sample } from '../../telemetry/readings.ts';

/** What is younger may simply not have been claimed yet. */
const OVERDUE_AFTER_S = 5;
/** Deliveries counted of each kind. */
const COUNTED = 10_000;
const LANES = 1_000;

const WAITS = ['poller', 'cap', 'database'] as const;
type Waits = (typeof WAITS)[number];

interface OverdueRow {
  readonly waitsFor: Waits;
  readonly late: number;
  /** At what has just come as well. */
  readonly looked: number;
  readonly oldestS: number | null;
}

/** The webhooks with pending deliveries, and the reason why these wait, as CTEs. */
function lanesWithDueWork(sql: Tx) {
  return sql`
    flying as materialized (select webhook_id, delivery_id from flights() where claimed_at > now() - lease()),
    lane as materialized (
      select l as lane,
             case when (select count(*) from flying f where f.webhook_id = l.webhook_id) >= least(l.max_in_flight, floor(l.window_size))
                  then 'cap' else 'poller' end as waits_for
      from waiting_lanes(${LANES}) w
      join lanes l using (webhook_id)
      where l.muted_at is null
    )`;
}

/**
 * Due and not taken: by pollers (a lane that is due, an arrival), or because all slots of the webhook's cap or its partner's share
 * are in use. Where the database refuses writes, all of it waits for that.
 */
export async function measureOverdue(sql: Tx): Promise<Readings> {
  const rows = await sql<OverdueRow[]>`
    with clock as materialized (
      select now() as now, now() - ${OVERDUE_AFTER_S} * interval '1 second' as late_before
    ),
    ${lanesWithDueWork(sql)}
    select kind.waits_for as "waitsFor", counted.late::int, counted.looked::int, oldest.seconds as "oldestS"
    from clock
    cross join (values ('poller'), ('cap')) kind (waits_for)
    cross join lateral (
      select count(*) as looked, count(*) filter (where next_attempt_at <= clock.late_before) as late
      from (
        select d.next_attempt_at
        from lane
        cross join lateral waiting_of(lane.lane, clock.late_before, array(select delivery_id from flying), ${COUNTED}) d
        where lane.waits_for = kind.waits_for
        limit ${COUNTED}
      ) some_of_them
    ) counted
    cross join lateral (
      select extract(epoch from clock.now - min(d.next_attempt_at))::float8 as seconds
      from lane
      cross join lateral waiting_of(lane.lane, clock.now, array(select delivery_id from flying), 1) d
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
    capped: cappedAt(COUNTED, { overdue: Math.max(...rows.map(({ looked }) => looked)) }),
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

/** Pending, by whether an attempt has failed, and stopped. Beyond the counting's bound the statistics tell the rest. */
export async function measureDepth(sql: Tx): Promise<Readings> {
  const stopped = (status: 'suspensa' | 'erro') => sql`(
    select count(*)::int
    from (
      select from deliveries where stopped = ${sql.unsafe(`'${status}'`)} order by webhook_id, event_id limit ${COUNTED}
    ) some_of_them)`;
  const [{ first, retrying, suspended, failed, knownPending, knownStopped }] = await sql<[DepthRow]>`
    select pending.*, ${stopped('suspensa')} as suspended, ${stopped('erro')} as failed,
           (select reltuples::float8 from pg_class where oid = 'pending'::regclass) as "knownPending",
           (select reltuples::float8 from pg_class where oid = 'deliveries_stopped'::regclass) as "knownStopped"
    from (
      select count(*) filter (where failures = 0)::int as first, count(*) filter (where failures > 0)::int as retrying
      from (
        select d.failures
        from (select delivery_id from pending order by webhook_id, due_at, delivery_id limit ${COUNTED}) p
        cross join lateral (select failures from deliveries where id = p.delivery_id limit 1) d
      ) some_of_them
    ) pending`;
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

function states(counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
}

function cappedAt(bound: number, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([measure, count]) => ({ labels: { measure }, value: count >= bound ? 1 : 0 }));
}

const WEBHOOKS = 5_000;

interface WebhookRow {
  readonly active: number;
  readonly muted: number;
  readonly inactive: number;
  readonly looked: number;
  readonly failing: number;
  readonly saturated: number;
  readonly silent: number;
}

/**
 * Webhooks in trouble. With the policy for failing endpoints, those that are `falhando`, pending or not. Else those with something
 * pending whose delivery due last has failed before: a retry is due minutes after all that is new.
 */
export async function measureWebhooks(sql: Tx): Promise<Readings> {
  const [{ active, muted, inactive, looked, failing, saturated, silent }] = await sql<[WebhookRow]>`
    select registered.*, pending.*, case when policy.is_on then falhando.count else pending.retrying end as failing
    from (
      select greatest(kept.active - still.muted, 0) as active, still.muted, kept.inactive
      from (
        select count(*) filter (where active)::int as active, count(*) filter (where not active)::int as inactive
        from (select active from webhooks order by id limit ${COUNTED}) some_of_them
      ) kept
      cross join (
        select count(*)::int as muted
        from lanes held
        join webhooks w on w.id = held.webhook_id and w.active
        where (held.muted_at is not null or held.failing_since is not null) and held.muted_at is not null
      ) still
    ) registered
    cross join (
      select count(*)::int as looked, count(*) filter (where last.failures > 0)::int as retrying,
             count(*) filter (where flying.count >= least(lane.max_in_flight, floor(lane.window_size)))::int as saturated,
             count(*) filter (where lane.window_size = 1 and last.failures is not null)::int as silent
      from (
        select l.webhook_id, l.window_size, l.max_in_flight from waiting_lanes(${WEBHOOKS}) w join lanes l using (webhook_id)
      ) lane
      cross join lateral (
        select d.failures
        from (select delivery_id from pending where webhook_id = lane.webhook_id order by due_at desc, delivery_id desc limit 1) p
        join deliveries d on d.id = p.delivery_id
      ) last
      left join (select webhook_id, count(*) from flights() group by webhook_id) flying using (webhook_id)
    ) pending
    cross join (select exists (select from failing_policy) as is_on) policy
    cross join (
      select count(*)::int as count
      from (select webhook_id from failing_runs order by webhook_id limit ${COUNTED}) run
      join lanes lane using (webhook_id)
      where lane.failing_since is not null
    ) falhando`;
  return {
    webhooks: states({ active, muted, inactive, failing, saturated, silent }),
    capped: [
      ...cappedAt(COUNTED, { webhooks: active + muted + inactive }),
      ...cappedAt(WEBHOOKS, { webhooks_in_trouble: looked }),
    ],
  };
}
