/**
 * The sweep: looks, a page of webhooks at a time, for pending deliveries that no lane would ever come to. None is
 * expected; the count is an alarm that the lanes' invariant was broken, and the arrival it inserts mends it.
 */
import type { Pool, Tx } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';
import type { Metrics } from '../metrics.ts';
import { LEASE_S } from './lease.ts';

const EVERY_MS = 30_000;
const PAGE = 1_000;
/** An arrival that is younger than this may simply not have been armed yet. */
const GRACE_S = 30;

export interface Sweep {
  readonly stranded: number;
  /** Where the next page begins; null after the last one. */
  readonly cursor: string | null;
}

/** Sweeps the page of webhooks after `cursor` (null: from the first one). */
export async function sweepLanes(tx: Tx, cursor: string | null, now: Date | null = null): Promise<Sweep> {
  const [row] = await tx<[{ stranded: number; last: string | null; size: number }]>`
    with clock as materialized (
      select coalesce(${now}::timestamptz, now()) as now
    ),
    page as materialized (
      select id from webhooks
      where id > coalesce(${cursor}::uuid, '00000000-0000-0000-0000-000000000000')
      order by id
      limit ${PAGE}
    ),
    stranded as (
      insert into arrivals (webhook_id, due_at)
      select page.id, '-infinity'
      from clock, page
      left join lateral (
        select * from lanes where lanes.webhook_id = page.id order by version desc limit 1
      ) l on true
      cross join lateral (
        select min(d.next_attempt_at) as due
        from deliveries d
        where d.webhook_id = page.id and d.status = 'pendente'
          and (d.claimed_at is null or d.claimed_at < clock.now - ${LEASE_S + GRACE_S} * interval '1 second')
      ) open
      where open.due < clock.now - ${GRACE_S} * interval '1 second'
        and (open.due < l.scan_from or l.saturated is not true and (l.next_due_at is null or l.next_due_at > clock.now))
      returning webhook_id
    )
    select (select count(*)::int from stranded) as stranded,
           (select max(id::text) from page) as last,
           (select count(*)::int from page) as size`;
  return { stranded: row.stranded, cursor: row.size === PAGE ? row.last : null };
}

export interface SweeperDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly metrics?: Pick<Metrics, 'countStranded'>;
  readonly monotonicMs: () => number;
  readonly now: () => Date | null;
}

/** Sweeps one page after the other, one every half minute. */
export class Sweeper {
  readonly #deps: SweeperDeps;
  #cursor: string | null = null;
  #sweptAtMs: number;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.#sweptAtMs = deps.monotonicMs();
  }

  /** Sweeps the next page when its time has come. */
  async sweepNowAndThen(): Promise<void> {
    const { pool, log, metrics, monotonicMs, now } = this.#deps;
    if (monotonicMs() - this.#sweptAtMs < EVERY_MS) return;
    this.#sweptAtMs = monotonicMs();
    const { stranded, cursor } = await pool.run((sql) => sweepLanes(sql, this.#cursor, now()));
    this.#cursor = cursor;
    if (stranded === 0) return;
    metrics?.countStranded(stranded);
    log.error({ stranded }, 'lanes were stranded and have been re-armed');
  }
}
