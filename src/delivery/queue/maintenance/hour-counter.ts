/**
 * The hour counter: adds up attempts by webhook, hour, outcome and time taken (`attempt_hours`), and by webhook, partner and quarter of an
 * hour (`attempt_steps`), up to 15 s after they were recorded. A webhook's health then reads some thousand small rows.
 * Invariant: each attempt is counted once. The mark in `projections` moves in the transaction that counts what lies below it, and never
 * past the oldest transaction that may still commit. The lock on its row lets one poller work at a time.
 * Crash: the batch is rolled back, and the next one counts the same attempts.
 * Once a day of São Paulo is older than 25 hours, its hours become one. The BRIN index by transaction needs bitmap scans, which a poller's
 * session otherwise has off.
 * Alternatives: counting in the record writes to rows that all pollers share; counting when asked reads a week's attempts.
 */
import type { Pool, Tx } from '../../../db/pool.ts';
import { logFailedTry } from '../../../db/outage-log.ts';
import { hasCode } from '../../../db/unavailable.ts';
import type { EngineDeps } from '../engine-deps.ts';

export const EVERY_MS = 15_000;
/** Transactions counted in one batch: some 10 s of a busy server, or half a million attempts of a drained backlog. */
const BATCH_TXS = 10_000;
/** The server's own deadlines ended the batch. */
const TOO_LONG = /^(57014|25P04)$/;
const KEPT = '9 days';
export const TOOK_RATIO = 1.1;

interface Mark {
  readonly epoch: number;
  readonly tx: number;
  readonly currentEpoch: number;
  readonly horizon: number;
}

/** Counts the next attempts. True when more may be there; false also when another poller counts or just did. */
export async function countBatch(tx: Tx, restMs = 0, txs = BATCH_TXS): Promise<boolean> {
  const [mark] = await tx<Mark[]>`
    select epoch, xid8send(tx)::bigint::float8 as tx, current_epoch() as "currentEpoch",
           xid8send(pg_snapshot_xmin(pg_current_snapshot()))::bigint::float8 as horizon,
           set_config('enable_bitmapscan', 'on', true)
    from projections
    where name = 'attempt_hours'
      and (passed_at between clock_timestamp() - ${restMs} * interval '1 millisecond' and clock_timestamp()) is not true
    for update skip locked`;
  if (mark === undefined) return false;
  const isPast = mark.epoch < mark.currentEpoch;
  const cut = isPast ? Number.MAX_SAFE_INTEGER : Math.min(mark.horizon, mark.tx + txs);
  const counted = await countBetween(tx, mark, cut);
  if (counted.length > 0) await mergeDays(tx, counted);
  const next = isPast ? { epoch: mark.epoch + 1, tx: 0 } : { epoch: mark.epoch, tx: Math.max(cut, mark.tx) };
  const hasMore = isPast || cut < mark.horizon;
  await tx`
    update projections
    set epoch = ${next.epoch}, tx = ${String(next.tx)}::text::xid8,
        passed_at = case when ${hasMore} then passed_at else clock_timestamp() end
    where name = 'attempt_hours'`;
  return hasMore;
}

interface Counted {
  readonly id: string;
  readonly since: Date;
}

async function countBetween(tx: Tx, from: Mark, cut: number): Promise<Counted[]> {
  return tx<Counted[]>`
    with batch as materialized (
      select webhook_id, partner_id, date_bin('15 minutes', recorded_at, 'epoch') as step, outcome,
             case when status_code is null then -1 else ceil(ln(greatest(duration_ms, 1)) / ln(${TOOK_RATIO}::float8)) end as took,
             case when number = 1 and outcome = 'entregue'
               then ceil(ln(greatest(date_part('epoch', started_at - uuid_extract_timestamp(delivery_id)) * 1000 + duration_ms, 1))
                         / ln(${TOOK_RATIO}::float8)) end as arrived,
             count(*) as attempts, min(recorded_at) as since
      from attempts
      where epoch = ${from.epoch} and (xid8send(tx)::bigint) >= ${from.tx}::float8::bigint
        and (xid8send(tx)::bigint) < ${cut}::float8::bigint
        and recorded_at > now() - ${KEPT}::interval
      group by 1, 2, 3, 4, 5, 6
    ),
    by_hour as (
      insert into attempt_hours as h (webhook_id, hour, outcome, took, attempts)
      select webhook_id, date_trunc('hour', step), outcome, took, sum(attempts)
      from batch
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (webhook_id, hour, outcome, took) do update set attempts = h.attempts + excluded.attempts
    ),
    by_step as (
      insert into attempt_steps as s (subject_id, step, delivered, failed, classes, counts)
      select subject_id, step, coalesce(sum(n) filter (where is_delivered), 0), coalesce(sum(n) filter (where not is_delivered), 0),
             coalesce(array_agg(arrived order by arrived) filter (where arrived is not null), '{}'),
             coalesce(array_agg(n order by arrived) filter (where arrived is not null), '{}')
      from (
        select coalesce(webhook_id, partner_id) as subject_id, step, outcome = 'entregue' as is_delivered, arrived, sum(attempts) as n
        from batch
        group by grouping sets ((webhook_id), (partner_id)), step, is_delivered, arrived
      ) grouped
      group by 1, 2
      order by 1, 2
      on conflict (subject_id, step) do update
      set delivered = s.delivered + excluded.delivered, failed = s.failed + excluded.failed,
          (classes, counts) = (
            select coalesce(array_agg(class order by class), '{}'), coalesce(array_agg(n order by class), '{}')
            from (select class, sum(n) as n from unnest(s.classes || excluded.classes, s.counts || excluded.counts) pooled (class, n) group by class) added
          )
    )
    select distinct unnest(array[webhook_id, partner_id]) as id, (select min(since) from batch) as since from batch`;
}

/**
 * Merges the hours of each old enough day into one row, and removes the oldest rows. Begins with the day before the newest merged day, or
 * with the first counted attempt's day if that is earlier.
 */
async function mergeDays(tx: Tx, counted: readonly Counted[]): Promise<void> {
  const ids = counted.map(({ id }) => id);
  await tx`
    with removed as (
      delete from attempt_hours where webhook_id = any (${ids}::uuid[]) and hour < now() - ${KEPT}::interval
    ),
    removed_steps as (
      delete from attempt_steps where subject_id = any (${ids}::uuid[]) and step < now() - ${KEPT}::interval
    ),
    merged as (
      delete from attempt_hours h
      using (select date_trunc('day', now() - interval '25 hours', 'America/Sao_Paulo') as start) hourly
      where webhook_id = any (${ids}::uuid[]) and hour < hourly.start
        and hour >= date_trunc('day', least(${counted[0]?.since ?? null}, hourly.start - interval '1 day'), 'America/Sao_Paulo')
        and hour <> date_trunc('day', hour, 'America/Sao_Paulo')
      returning webhook_id, date_trunc('day', hour, 'America/Sao_Paulo') as day, outcome, took, attempts
    )
    insert into attempt_hours as h (webhook_id, hour, outcome, took, attempts)
    select webhook_id, day, outcome, took, sum(attempts) from merged group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (webhook_id, hour, outcome, took) do update set attempts = h.attempts + excluded.attempts`;
}

/**
 * Counts all that can be counted now, until `isEnough`. A batch that took too long is repeated with fewer transactions: otherwise one with
 * too many attempts would fail for ever and block all later ones.
 */
export async function countHours(pool: Pool, restMs = 0, isEnough = () => false): Promise<void> {
  let txs = BATCH_TXS;
  for (let hasMore = true; hasMore && !isEnough();) {
    try {
      hasMore = await pool.transaction((tx) => countBatch(tx, restMs, txs));
    } catch (error) {
      if (!hasCode(error, TOO_LONG) || txs === 1) throw error;
      txs = Math.ceil(txs / 4);
    }
  }
}

export class HourCounter {
  readonly #deps: Pick<EngineDeps, 'pool' | 'log' | 'monotonicMs'>;
  #countedAtMs: number;
  #counting: Promise<void> | null = null;

  constructor(deps: Pick<EngineDeps, 'pool' | 'log' | 'monotonicMs'>) {
    this.#deps = deps;
    this.#countedAtMs = deps.monotonicMs();
  }

  countNowAndThen(): void {
    const { pool, log, monotonicMs } = this.#deps;
    if (this.#counting !== null || monotonicMs() - this.#countedAtMs < EVERY_MS) return;
    const startedAtMs = (this.#countedAtMs = monotonicMs());
    // A draining poller waits for the counting, so a long backlog is left for later.
    this.#counting = countHours(pool, EVERY_MS / 2, () => monotonicMs() - startedAtMs >= EVERY_MS)
      .catch((error: unknown) => {
        logFailedTry(log, error, 'cannot count attempts, trying again', 'cannot count attempts, trying again');
      })
      .finally(() => (this.#counting = null));
  }

  async settled(): Promise<void> {
    await this.#counting;
  }
}
