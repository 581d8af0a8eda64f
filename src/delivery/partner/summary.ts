/**
 * A partner's deliveries in a window of time: attempts step by step, and how many deliveries wait.
 * A day and a week come from the counts by quarter of an hour (queue/maintenance/hour-counter.ts). A shorter window is read from its end, at
 * most {@link READ} attempts: a busier partner sees the newest, and since when. So a reading's cost is bounded. Tried for a day: 37 ms for
 * 20,000 attempts, but these were 40 minutes of a partner with 700,000 a day.
 */
import { type Summary, WINDOWS, type WindowName } from '../../contract/resources/summary.ts';
import type { Pool } from '../../db/pool.ts';
import { quantile } from './webhook-health.ts';

const READ = 20_000;
/** The step of `attempt_steps`. */
const KEPT_STEP_S = 900;
/** Counted deliveries per webhook, at most; beyond that there are "more". */
export const COUNTED = 1_000;

interface SummaryRow {
  /** In steps since 1970; null for the whole window. */
  readonly step: number | null;
  readonly delivered: number;
  readonly failed: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly oldest: Date | null;
  readonly read: number;
  readonly now: Date;
}

/** One webhook's deliveries, or all of a partner's (null). */
interface Subject {
  readonly partnerId: string;
  readonly webhookId: string | null;
}

/** Steps without an attempt are zeros. */
export async function readSummary(pool: Pool, subject: Subject, window: WindowName): Promise<Summary> {
  const { windowS, stepS } = WINDOWS[window];
  const read = stepS % KEPT_STEP_S === 0 ? readKept : readPulse;
  const [rows, espera] = await Promise.all([read(pool, subject, windowS, stepS), readWaiting(pool, subject)]);
  const whole = rows.find(({ step }) => step === null);
  const bySteps = new Map(rows.map((row) => [row.step, row]));
  const last = Math.floor((whole?.now.getTime() ?? 0) / 1_000 / stepS);
  const passos = Array.from({ length: windowS / stepS + 1 }, (_, index) => {
    const step = last - windowS / stepS + index;
    return { inicio: new Date(step * stepS * 1_000).toISOString(), ...numbersOf(bySteps.get(step)) };
  });
  const { entregues, falhas, ...times } = numbersOf(whole);
  const isCut = whole?.read === READ;
  const mostra_desde = isCut ? (whole?.oldest?.toISOString() ?? null) : null;
  return { passo_segundos: stepS, passos, entregues, falhas, ...times, mostra_desde, espera };
}

function numbersOf(row: SummaryRow | undefined) {
  return {
    entregues: row?.delivered ?? 0,
    falhas: row?.failed ?? 0,
    p50_ms: row?.p50 ?? null,
    p99_ms: row?.p99 ?? null,
  };
}

/**
 * Bounds name partner and time together, so that no plan walks the index of time alone or all of the partner's rows. Times are floats and
 * integers: as `numeric`, from `extract`, 20,000 attempts took 61 ms instead of 39.
 */
function readPulse(
  pool: Pool,
  { partnerId, webhookId }: Subject,
  windowS: number,
  stepS: number,
): Promise<SummaryRow[]> {
  return pool.run(
    (sql) => sql<SummaryRow[]>`
      with read as materialized (
        select floor(date_part('epoch', a.recorded_at) / ${stepS}::int) as step, a.recorded_at,
               a.outcome = 'entregue' as is_delivered,
               ${webhookId}::uuid is null or a.webhook_id = ${webhookId} as is_asked,
               case when a.number = 1 and a.outcome = 'entregue'
                 then (date_part('epoch', a.started_at - uuid_extract_timestamp(a.delivery_id)) * 1000)::bigint + a.duration_ms end as took
        from attempts a
        where (a.partner_id, a.recorded_at) >= (${partnerId}::uuid, now() - ${windowS}::int * interval '1 second')
          and (a.partner_id, a.recorded_at) <= (${partnerId}::uuid, 'infinity')
        order by a.partner_id desc, a.recorded_at desc
        limit ${READ}
      )
      select step, count(*) filter (where is_asked and is_delivered)::int as delivered,
             count(*) filter (where is_asked and not is_delivered)::int as failed,
             (percentile_disc(0.5) within group (order by took) filter (where is_asked))::float8 as p50,
             (percentile_disc(0.99) within group (order by took) filter (where is_asked))::float8 as p99,
             min(recorded_at) as oldest, count(*)::int as read, now()
      from read group by grouping sets ((step), ())`,
  );
}

interface Kept extends Pick<SummaryRow, 'now' | 'step' | 'delivered' | 'failed'> {
  readonly times: Readonly<Record<string, string>>;
}

async function readKept(
  pool: Pool,
  { partnerId, webhookId }: Subject,
  windowS: number,
  stepS: number,
): Promise<SummaryRow[]> {
  const kept = await pool.run(
    (sql) => sql<Kept[]>`
      select now(), floor(date_part('epoch', s.step) / ${stepS}::int) as step, s.delivered, s.failed,
             json_object(s.classes::text[], s.counts::text[]) as times
      from (values (1)) one
      left join attempt_steps s
        on s.subject_id = ${webhookId === null ? partnerId : sql`(select id from webhooks where id = ${webhookId} and partner_id = ${partnerId})`}
        and s.step >= to_timestamp(floor(date_part('epoch', now()) / ${stepS}::int) * ${stepS}::int - ${windowS}::int)`,
  );
  const now = kept[0]?.now ?? new Date();
  const reported = kept.filter(({ step }) => step !== null);
  const bySteps = [...Map.groupBy(reported, ({ step }) => step)];
  return [...bySteps, [null, reported] as const].map(([step, rows]) => sumOf(now, step, rows));
}

function sumOf(now: Date, step: number | null, rows: readonly Kept[]): SummaryRow {
  const times = new Map<number, number>();
  for (const row of rows) {
    for (const [took, count] of Object.entries(row.times))
      times.set(Number(took), (times.get(Number(took)) ?? 0) + Number(count));
  }
  const answers = [...times].map(([took, count]) => ({ took, count })).toSorted((one, other) => one.took - other.took);
  return {
    step,
    delivered: rows.reduce((sum, { delivered }) => sum + delivered, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    p50: quantile(answers, 0.5),
    p99: quantile(answers, 0.99),
    oldest: null,
    read: 0,
    now,
  };
}

/** Deliveries that wait, at most {@link COUNTED} per webhook. */
async function readWaiting(pool: Pool, { partnerId, webhookId }: Subject): Promise<Summary['espera']> {
  interface Waiting {
    readonly pending: number;
    readonly due: number;
    readonly dueSince: Date | null;
    readonly hasMore: boolean;
  }
  const [{ pending, due, dueSince, hasMore }] = await pool.run(
    (sql) => sql<[Waiting]>`
      select coalesce(sum(least(waits.pending, ${COUNTED})), 0)::int as pending, coalesce(sum(waits.due), 0)::int as due,
             min(waits.oldest) filter (where waits.oldest <= now()) as "dueSince",
             coalesce(bool_or(waits.pending > ${COUNTED}), false) as "hasMore"
      from unnest(array(select id from webhooks where partner_id = ${partnerId} and (${webhookId}::uuid is null or id = ${webhookId}))) w (id)
      cross join lateral (
        select count(*) as pending, count(*) filter (where next_attempt_at <= now()) as due, min(next_attempt_at) as oldest
        from (
          select next_attempt_at from deliveries
          where webhook_id = w.id and status = 'pendente' order by next_attempt_at limit ${COUNTED + 1}
        ) first
      ) waits`,
  );
  return { pendentes: pending, vencidas: due, vencida_desde: dueSince?.toISOString() ?? null, ha_mais: hasMore };
}
