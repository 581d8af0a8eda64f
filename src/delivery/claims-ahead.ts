/**
 * Claims ahead of the clock: the database's clock was set back (or another server took over whose clock is behind), so the
 * leases of claims made before would last until it has caught up, which may be an hour.
 *
 * Invariant: such a claim is ended only after this poller has seen it for a whole lease by its own monotonic clock. The
 * claim was made before it was first seen, so its lease is over whatever any wall clock says.
 * Crash: what this poller has seen is forgotten with it; the next one counts a whole lease anew.
 * Alternative: to set `claimed_at` to the new time. But the row of the lost attempt is made of it, with the URL that the
 * registration had then.
 */
import type { Pool, Tx } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';
import { LEASE_S } from './lease.ts';
import { endClaims, type HeldDelivery } from './lost.ts';

/** How often lanes are looked through: each with a delivery in flight costs some 5 µs. */
const LOOK_EVERY_MS = 30_000;
/** How often while there are claims ahead of the clock. */
const WATCH_EVERY_MS = 5_000;
/** Less than this is no step of the clock, and is waited for. */
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

export interface ClaimsAheadDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly monotonicMs: () => number;
  /** The database's clock in tests. */
  readonly now: () => Date | null;
}

export class ClaimsAhead {
  readonly #deps: ClaimsAheadDeps;
  /** Monotonic time at which each claim was first seen ahead of the clock. */
  #seenAtMs = new Map<string, number>();
  #lookedAtMs: number;

  constructor(deps: ClaimsAheadDeps) {
    this.#deps = deps;
    this.#lookedAtMs = deps.monotonicMs();
  }

  /** Looks for claims ahead of the clock when it is time, and ends those that were seen for a whole lease. */
  async endNowAndThen(): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    const atMs = monotonicMs();
    if (atMs - this.#lookedAtMs < (this.#seenAtMs.size > 0 ? WATCH_EVERY_MS : LOOK_EVERY_MS)) return;
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
