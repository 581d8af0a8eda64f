/**
 * The sweep, one page of webhooks every half minute: ends flights whose leases are over, suspends what is left of inactive webhooks, and
 * repairs what only a bug leaves.
 */
import type { DeliveryMetrics } from '../../../telemetry/delivery-metrics.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { endOverdue, heedClock } from '../lost.ts';
import { suspendLeft } from './left-pending.ts';
import { deleteStrayRows, type PendingPlace, wakeSleepers } from './stray-rows.ts';

export const EVERY_MS = 30_000;
const PAGE = 1_000;

export interface SweeperDeps extends EngineDeps {
  readonly metrics?: Pick<DeliveryMetrics, 'countStray'>;
}

export class Sweeper {
  readonly #deps: SweeperDeps;
  #place: PendingPlace | null = null;
  #cursor: string | null = null;
  #sweptAtMs: number;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.#sweptAtMs = deps.monotonicMs();
  }

  async sweepNowAndThen(): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    if (monotonicMs() - this.#sweptAtMs < EVERY_MS) return;
    this.#sweptAtMs = monotonicMs();
    await pool.transaction((tx) => heedClock(tx, now()));
    const lost = await pool.transaction((tx) => endOverdue(tx, now()));
    if (lost > 0)
      log.warn({ deliveries: lost }, 'claims that nobody recorded have been ended: what was sent is desconhecido');
    const [page] = await pool.run(
      (sql) => sql<{ last: string | null; size: number }[]>`
        select max(id::text) as last, count(*)::int as size
        from (select id from webhooks where id > coalesce(${this.#cursor}::uuid, '00000000-0000-0000-0000-000000000000') order by id limit ${PAGE}) page`,
    );
    const from = this.#cursor;
    // Before the part that may fail: a page that always fails must not block the others.
    this.#cursor = page?.size === PAGE ? page.last : null;
    const suspended = await suspendLeft(pool, from, PAGE);
    if (suspended > 0) log.info({ suspended }, 'deliveries of inactive webhooks have been suspended');
    await pool.transaction((tx) => wakeSleepers(tx, from, PAGE));
    await this.#deleteStrayRows();
  }

  async #deleteStrayRows(): Promise<void> {
    const { pool, log, metrics } = this.#deps;
    const place = this.#place;
    this.#place = null;
    const { stray, next } = await pool.transaction((tx) => deleteStrayRows(tx, place, PAGE));
    this.#place = next;
    if (stray === 0) return;
    metrics?.countStray(stray);
    log.error({ rows: stray }, 'rows of pending were of deliveries that are not: a bug, which was mended');
  }
}
