/**
 * What was sent to a partner in a window of time, step by step, and what waits.
 *
 * A window is read from its end, at most {@link READ} attempts of it: a partner that had more sees the newest, and from
 * when on. So what a reading costs is bounded, whatever the window and the partner's size. Counts kept by the minute would
 * serve any window, at the price of a write to every recorded batch.
 */
import type { Outcome } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';

/** Attempts that one reading looks at. */
const READ = 20_000;
/** Deliveries of one webhook that are counted; beyond it there are "more". */
export const COUNTED = 1_000;

export interface PulseStep {
  /** When the step begins. */
  readonly at: Date;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  /** Milliseconds from a delivery's making, in its event's transaction, to its arrival at the first attempt. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface Pulse {
  readonly steps: readonly PulseStep[];
  /** Of the whole window. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** The window is shown from then on only, for it has too many attempts; null when it is whole. */
  readonly cutAt: Date | null;
  readonly now: Date;
}

interface Row {
  readonly step: number | null;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly read: number;
  readonly oldest: Date | null;
  readonly now: Date;
}

/**
 * The bounds are of partner and time together, so that no plan walks the index of time alone, or all of the partner's rows.
 * The last `windowS` seconds in steps of `stepS`; a step without an attempt is left out.
 */
export async function readPulse(pool: Pool, partnerId: string, windowS: number, stepS: number): Promise<Pulse> {
  const rows = await pool.run(
    (sql) => sql<Row[]>`
      with read as materialized (
        select floor(extract(epoch from a.recorded_at) / ${stepS}::int)::float8 as step, a.recorded_at, a.outcome,
               case when a.number = 1 and a.outcome = 'entregue'
                 then extract(epoch from a.started_at - uuid_extract_timestamp(a.delivery_id)) * 1000 + a.duration_ms end as took
        from attempts a
        where (a.partner_id, a.recorded_at) >= (${partnerId}::uuid, now() - ${windowS}::int * interval '1 second')
          and (a.partner_id, a.recorded_at) <= (${partnerId}::uuid, 'infinity')
        order by a.partner_id desc, a.recorded_at desc
        limit ${READ}
      ),
      counted as materialized (select step, outcome, count(*)::int as count from read group by step, outcome),
      timed as (
        select step, percentile_disc(0.5) within group (order by took)::float8 as p50,
               percentile_disc(0.99) within group (order by took)::float8 as p99
        from read group by grouping sets ((step), ())
      )
      select timed.step, timed.p50 as "p50Ms", timed.p99 as "p99Ms", now(),
             (select count(*)::int from read) as read, (select min(recorded_at) from read) as oldest,
             coalesce((select json_object_agg(outcome, count) from counted where counted.step = timed.step), '{}') as outcomes
      from timed
      order by timed.step`,
  );
  const whole = rows.find(({ step }) => step === null);
  return {
    steps: rows.flatMap(({ step, outcomes, p50Ms, p99Ms }) =>
      step === null ? [] : [{ at: new Date(step * stepS * 1_000), outcomes, p50Ms, p99Ms }],
    ),
    p50Ms: whole?.p50Ms ?? null,
    p99Ms: whole?.p99Ms ?? null,
    cutAt: whole !== undefined && whole.read === READ ? whole.oldest : null,
    now: whole?.now ?? new Date(0),
  };
}

export interface Waiting {
  /** At most {@link COUNTED} for each webhook. */
  readonly pending: number;
  readonly due: number;
  /** When what waits longest was due; null when nothing is due. */
  readonly oldestDueAt: Date | null;
  /** True when a webhook has more than were counted. */
  readonly hasMore: boolean;
}

/** What waits for these webhooks. */
export async function readWaiting(pool: Pool, webhookIds: readonly string[]): Promise<Waiting> {
  const [row] = await pool.run(
    (sql) => sql<[Waiting]>`
      select coalesce(sum(least(waits.pending, ${COUNTED})), 0)::int as pending, coalesce(sum(waits.due), 0)::int as due,
             min(waits.oldest) filter (where waits.oldest <= now()) as "oldestDueAt",
             coalesce(bool_or(waits.pending > ${COUNTED}), false) as "hasMore"
      from unnest(${[...webhookIds]}::uuid[]) w (id)
      cross join lateral (
        select count(*) as pending, count(*) filter (where next_attempt_at <= now()) as due, min(next_attempt_at) as oldest
        from (
          select next_attempt_at from deliveries
          where webhook_id = w.id and status = 'pendente' order by next_attempt_at limit ${COUNTED + 1}
        ) first
      ) waits`,
  );
  return row;
}
