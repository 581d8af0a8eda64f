/**
 * Claims ahead of the clock. When the database's clock is set back, or another server with a slower clock takes over,
 * leases of older claims would last until the clock has caught up, which may take an hour.
 *
 * Invariant: such a claim is ended only after this poller has seen it for a whole lease by its own monotonic clock. The
 * claim is older than the first look at it, so its lease is over whatever a wall clock says.
 * Crash: the next process starts counting again.
 * Alternative: setting `claimed_at` to the new time. But the row of the lost attempt takes its time from there, and with
 * it the URL that the webhook had then.
 */
import type { Tx } from '../../../db/pool.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { LEASE_S } from '../lease.ts';
import { endClaims, type HeldDelivery } from '../lost.ts';

/** How often we search the lanes; each lane with a delivery in flight costs about 5 µs. */
export const LOOK_EVERY_MS = 30_000;
/** The same while there are claims ahead of the clock. */
const WATCH_EVERY_MS = 5_000;
/** Smaller steps of the clock are waited out. */
const SLACK_S = 5;
const AT_ONCE = 10_000;

/** The deliveries that are claimed since a time that the clock has yet to reach. */
async function readAhead(tx: Tx, now: Date | null): Promise<readonly HeldDelivery[]> {
  return tx<HeldDelivery[]>`
    with clock as materialized (
      select coalesce(${now}::timestamptz, clock_timestamp()) as now
    )
    select held.id, held.claimed_by as claim
    from clock, lanes l
    cross join lateral (
      select d.id, d.claimed_by
      from deliveries d
      where d.webhook_id = l.webhook_id and d.status = 'pendente'
        and d.next_attempt_at between l.scan_from and l.flying_to
        and d.claimed_at > clock.now + ${SLACK_S} * interval '1 second'
    ) held
    where l.flying_to is not null
    limit ${AT_ONCE}`;
}

export class ClaimsAhead {
  readonly #deps: EngineDeps;
  /** Monotonic time at which each claim was first seen ahead of the clock. */
  #seenAtMs = new Map<string, number>();
  #lookedAtMs: number;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#lookedAtMs = deps.monotonicMs();
  }

  /** Looks for claims ahead of the clock when it is time (`often` below 1: the more seldom), and ends those that were seen for a whole lease. */
  async endNowAndThen(often = 1): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    const atMs = monotonicMs();
    if (atMs - this.#lookedAtMs < (this.#seenAtMs.size > 0 ? WATCH_EVERY_MS : LOOK_EVERY_MS / often)) return;
    this.#lookedAtMs = atMs;
    const held = await pool.run((sql) => readAhead(sql, now()));
    // Read after the answer: each of them was claimed before that.
    const answeredAtMs = monotonicMs();
    const first = this.#seenAtMs;
    this.#seenAtMs = new Map(held.map(({ claim }) => [claim, first.get(claim) ?? answeredAtMs]));
    const lost = held.filter(({ claim }) => atMs - (this.#seenAtMs.get(claim) ?? atMs) >= LEASE_S * 1_000);
    if (lost.length === 0) return;
    const ended = await pool.transaction((tx) => endClaims(tx, lost, now()));
    log.warn({ deliveries: ended }, 'the clock of the database was set back: ended claims that lay ahead of it');
  }
}
