/**
 * The sweep: searches for pending deliveries that no lane would ever come to, one page of webhooks at a time. No pending
 * delivery may lie before its lane's marks; a lane that sleeps may have nothing due; a saturated one must have a delivery in
 * flight, or an arrival on its way. The expected count is 0. Any other count means that the lanes' invariant was broken, and is
 * an alarm; the arrival that the sweep inserts repairs the lane.
 */
import type { Tx } from '../../../db/pool.ts';
import type { DeliveryMetrics } from '../../../telemetry/delivery-metrics.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { suspendLeft } from './left-pending.ts';
import { type LoanPlace, wakeStrandedLoans } from './stranded-loans.ts';

export const EVERY_MS = 30_000;
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
      select id, partner_id, quiet_until from webhooks
      where id > coalesce(${cursor}::uuid, '00000000-0000-0000-0000-000000000000')
      order by id
      limit ${PAGE}
    ),
    stranded as (
      insert into arrivals (webhook_id, partner_id, kind)
      select page.id, page.partner_id, 'look'
      from clock, page
      left join lateral (
        select * from lanes
        where lanes.webhook_id = page.id and lanes.partner_id = page.partner_id
        order by version desc limit 1
      ) l on true
      cross join lateral (
        select min(d.next_attempt_at) as due
        from deliveries d
        where d.webhook_id = page.id and d.partner_id = page.partner_id and d.status = 'pendente'
          and (d.claimed_at is null or d.claimed_at < clock.now - lease() - ${GRACE_S} * interval '1 second')
      ) open
      where open.due < clock.now - ${GRACE_S} * interval '1 second' and l.muted_at is null
        and (page.quiet_until > clock.now - ${GRACE_S} * interval '1 second') is not true
        and (open.due < l.scan_from
             or (l.next_due_at is null or l.next_due_at > clock.now)
                and (l.saturated is not true
                     or not exists (
                          select from deliveries d
                          where d.webhook_id = page.id and d.partner_id = page.partner_id and d.status = 'pendente'
                            and d.claimed_at is not null and d.next_attempt_at between l.scan_from and l.flying_to
                        )
                        and not exists (
                          select from arrivals a where a.webhook_id = page.id and a.partner_id = page.partner_id
                        )))
      returning webhook_id
    )
    select (select count(*)::int from stranded) as stranded,
           (select max(id::text) from page) as last,
           (select count(*)::int from page) as size`;
  return { stranded: row.stranded, cursor: row.size === PAGE ? row.last : null };
}

export interface SweeperDeps extends EngineDeps {
  readonly metrics?: Pick<DeliveryMetrics, 'countStranded'>;
}

/** Sweeps one page after the other, one every half minute. */
export class Sweeper {
  readonly #deps: SweeperDeps;
  #cursor: string | null = null;
  #place: LoanPlace | null = null;
  #sweptAtMs: number;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.#sweptAtMs = deps.monotonicMs();
  }

  /** Sweeps the next page when its time has come; `often` below 1 the more seldom. */
  async sweepNowAndThen(often = 1): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    if (monotonicMs() - this.#sweptAtMs < EVERY_MS / often) return;
    this.#sweptAtMs = monotonicMs();
    const from = this.#cursor;
    const { stranded, cursor } = await pool.run((sql) => sweepLanes(sql, from, now()));
    // Before the parts that may fail: a page that always fails must not keep the others from being swept.
    this.#cursor = cursor;
    this.#tell(stranded, 'lanes were stranded, and have been woken');
    const suspended = await suspendLeft(pool, from, PAGE, now());
    if (suspended > 0) log.info({ suspended }, 'deliveries of inactive webhooks have been suspended');
    // Last, because it may fail again and again: a webhook may have more that waits than one statement can read in its time.
    const ofLoans = await pool.transaction((tx) => wakeStrandedLoans(tx, this.#place));
    this.#place = ofLoans.place;
    this.#tell(ofLoans.stranded, 'deliveries of loans were stranded, and have been woken');
  }

  #tell(stranded: number, what: string): void {
    if (stranded === 0) return;
    this.#deps.metrics?.countStranded(stranded);
    this.#deps.log.error({ stranded }, what);
  }
}
