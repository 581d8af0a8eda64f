/**
 * The hour counter: adds the attempts up by webhook, hour, outcome and time taken (`attempt_hours`), a few seconds after
 * they were recorded. A webhook's health over seven days is then some thousand small rows, whatever it was sent.
 *
 * Invariant: each attempt is counted once. The mark in `projections` moves in the transaction that counts what lies
 * below it, and never beyond the oldest transaction that may still commit. Its row's lock lets one poller work at a time.
 * Crash: the turn is rolled back, and the next one counts the same attempts.
 * The index that finds attempts by transaction (BRIN) works by bitmaps, which a poller's session otherwise has off: 20 ms a
 * turn beside 900,000 attempts.
 * Alternatives: counting in the record costs each flush a write to rows that all pollers share. Counting when asked reads
 * every attempt of a week. Measured here: 4 µs an attempt, aside from the hot path (test/bench/figures/reads.ts).
 */
import type { Pool, Tx } from '../../../db/pool.ts';
import { logFailedTry } from '../../../db/outage-log.ts';
import type { EngineDeps } from '../engine-deps.ts';

const EVERY_MS = 5_000;
/** The transactions whose attempts one turn counts: of a busy server those of some 10 s. */
const TURN_TXS = 10_000;
const KEPT = '8 days';
/** The ratio of one class of times to the next. */
export const TOOK_RATIO = 1.1;

interface Mark {
  readonly epoch: number;
  readonly tx: number;
  readonly currentEpoch: number;
  readonly horizon: number;
}

/** Counts the next attempts. True when more may be there already; false, too, when another poller counts or just did. */
export async function countTurn(tx: Tx, restMs = 0): Promise<boolean> {
  const [mark] = await tx<Mark[]>`
    select epoch, xid8send(tx)::bigint::float8 as tx, current_epoch() as "currentEpoch",
           xid8send(pg_snapshot_xmin(pg_current_snapshot()))::bigint::float8 as horizon,
           set_config('enable_bitmapscan', 'on', true)
    from projections
    where name = 'attempt_hours'
      and coalesce(passed_at, '-infinity') <= clock_timestamp() - ${restMs} * interval '1 millisecond'
    for update skip locked`;
  if (mark === undefined) return false;
  const isPast = mark.epoch < mark.currentEpoch;
  const cut = isPast ? Number.MAX_SAFE_INTEGER : Math.min(mark.horizon, mark.tx + TURN_TXS);
  await countBetween(tx, mark, cut);
  const next = isPast ? { epoch: mark.epoch + 1, tx: 0 } : { epoch: mark.epoch, tx: Math.max(cut, mark.tx) };
  const hasMore = isPast || cut < mark.horizon;
  await tx`
    update projections
    set epoch = ${next.epoch}, tx = ${String(next.tx)}::text::xid8,
        passed_at = case when ${hasMore} then passed_at else clock_timestamp() end
    where name = 'attempt_hours'`;
  return hasMore;
}

async function countBetween(tx: Tx, from: Mark, cut: number): Promise<void> {
  await tx`
    with counted as (
      insert into attempt_hours as h (webhook_id, hour, outcome, took, attempts)
      select webhook_id, date_trunc('hour', recorded_at), outcome,
             case when status_code is null then -1 else ceil(ln(greatest(duration_ms, 1)) / ln(${TOOK_RATIO}::float8)) end,
             count(*)
      from attempts
      where epoch = ${from.epoch} and (xid8send(tx)::bigint) >= ${from.tx}::float8::bigint
        and (xid8send(tx)::bigint) < ${cut}::float8::bigint
        and recorded_at > now() - ${KEPT}::interval
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (webhook_id, hour, outcome, took) do update set attempts = h.attempts + excluded.attempts
      returning webhook_id
    )
    delete from attempt_hours old
    using (select distinct webhook_id from counted) touched
    where old.webhook_id = touched.webhook_id and old.hour < now() - ${KEPT}::interval`;
}

/** Counts all that can be counted now. */
export async function countHours(pool: Pool, restMs = 0): Promise<void> {
  while (await pool.transaction((tx) => countTurn(tx, restMs)));
}

/** Counts every few seconds, beside the claims. */
export class HourCounter {
  readonly #deps: Pick<EngineDeps, 'pool' | 'log' | 'monotonicMs'>;
  #countedAtMs: number;
  #counting: Promise<void> | null = null;

  constructor(deps: Pick<EngineDeps, 'pool' | 'log' | 'monotonicMs'>) {
    this.#deps = deps;
    this.#countedAtMs = deps.monotonicMs();
  }

  /** Begins to count when it is time; `often` below 1 the more seldom. */
  countNowAndThen(often = 1): void {
    const { pool, log, monotonicMs } = this.#deps;
    if (this.#counting !== null || monotonicMs() - this.#countedAtMs < EVERY_MS / often) return;
    this.#countedAtMs = monotonicMs();
    this.#counting = countHours(pool, EVERY_MS / 2)
      .catch((error: unknown) => {
        logFailedTry(log, error, 'cannot count attempts, trying again', 'cannot count attempts, trying again');
      })
      .finally(() => (this.#counting = null));
  }

  /** Resolves when it does not count. */
  async settled(): Promise<void> {
    await this.#counting;
  }
}
