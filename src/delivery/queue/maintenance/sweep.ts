/**
 * The sweep, one page of `pending` every half minute: ends flights whose leases are over, suspends what is left of inactive webhooks,
 * repairs what only a bug leaves, and makes tables small that vacuum can't.
 */
import type { DeliveryMetrics } from '../../../telemetry/delivery-metrics.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { rescueOverdue, heedClock } from '../rescuer.ts';
import { SUSPENDED_AT_ONCE, suspendUnclaimed } from '../orders/suspend.ts';
import { checkPage } from './pending-page.ts';

export const EVERY_MS = 30_000;
const ROWS = 5_000;
/** Of a page; what is left waits until the sweep is back at it. */
const BATCHES = 3;

export interface SweeperDeps extends EngineDeps {
  readonly metrics?: Pick<DeliveryMetrics, 'countOrphaned'>;
}

export class Sweeper {
  readonly #deps: SweeperDeps;
  #place: string | null = null;
  #sweptAtMs: number;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.#sweptAtMs = deps.monotonicMs();
  }

  async sweepNowAndThen(): Promise<void> {
    const { pool, log, monotonicMs, now, metrics } = this.#deps;
    if (monotonicMs() - this.#sweptAtMs < EVERY_MS) return;
    this.#sweptAtMs = monotonicMs();
    const lost = await pool.transaction(async (tx) => {
      await heedClock(tx, now());
      return rescueOverdue(tx, now());
    });
    if (lost > 0)
      log.warn({ deliveries: lost }, 'claims that nobody recorded have been ended: what was sent is desconhecido');
    for (const queue of ['pending', 'claims']) await pool.run((sql) => sql`select renew(${queue})`);
    const place = this.#place;
    // Before the part that may fail: a page that always fails must not block those before it.
    this.#place = null;
    const { orphaned, inactive, next } = await pool.transaction((tx) => checkPage(tx, place, ROWS));
    this.#place = next;
    if (orphaned > 0) {
      metrics?.countOrphaned(orphaned);
      log.error({ rows: orphaned }, 'rows of pending were of deliveries that are not: a bug, which was mended');
    }
    if (inactive.length === 0) return;
    let suspended = 0;
    for (let batches = 0; batches < BATCHES && suspended === batches * SUSPENDED_AT_ONCE; batches += 1)
      suspended += await pool.transaction((tx) => suspendUnclaimed(tx, inactive, now()));
    if (suspended > 0) log.info({ suspended }, 'deliveries of inactive webhooks have been suspended');
  }
}
