/**
 * Dead pollers: each living poller holds a lock under its name (drizzle/functions/sign_of_life.sql). A claim that was
 * made under such a lock has a term (term_of.sql). When its poller no longer holds the lock, the claim is ended after a
 * grace, and others take over.
 *
 * Invariant: a claim is ended only after this poller has seen it without its lock for GRACE_MS, by its own monotonic
 * clock. By then its poller starts no send of it: a poller starts sends only for less than GRACE_MS after its lock was
 * last confirmed (poller/sign-of-life.ts). A poller may judge others only where it sees its own lock among theirs, so
 * never on a server that is not theirs.
 * Crash: the next process starts counting again. When a server has started, was promoted, or has ended this poller's
 * session too, all pollers get START_GRACE_MS to return, and keep what they hold.
 * Why not the lease alone: deliveries of a dead poller would wait for it. Why not one elected watcher: while it is
 * frozen, nobody would look. Claims are read when a lock has gone, and rarely otherwise, so most looks cost as much as
 * reading pg_locks.
 */
import { TIMES_S } from '../../../contract/delivery.ts';
import type { Tx } from '../../../db/pool.ts';
import type { EngineDeps } from '../engine-deps.ts';
import { endClaims, type HeldDelivery } from '../lost.ts';
import type { Pulse } from '../sign-of-life.ts';

/** Longer than a living poller takes to get its lock back when its connection was reset. */
export const GRACE_MS = TIMES_S.deadAfter * 1_000;
/** Longer than pollers take to find a server again that was restarted or promoted. */
const START_GRACE_MS = 15_000;
/** Claims are read for this long after a lock has gone: one may still commit, but not past the poller's deadlines. */
const SETTLE_MS = 10_000;
/**
 * Claims are looked at this often even when no lock has gone: a poller may have come and gone between two looks at the locks. A poller
 * behind n others does so n + 1 times as seldom.
 */
export const LOOK_EVERY_MS = 10_000;
const AT_ONCE = 10_000;
/** The most claims that one transaction ends. */
const BATCH = 1_000;

interface Orphan extends HeldDelivery {
  readonly poller: string;
}

/** The claims without their poller's lock; none where the poller `name` has no lock itself. */
async function readOrphans(tx: Tx, name: string): Promise<readonly Orphan[]> {
  return tx<Orphan[]>`
    with living as materialized (
      select array_agg(number) as numbers from living_pollers()
    )
    select unnest(held.ids) as id, held.claim, poller_of(held.claim) as poller
    from living
    cross join lateral (
      select d.claimed_by as claim, array_agg(d.id) as ids
      from lanes l
      join deliveries d on d.webhook_id = l.webhook_id and d.partner_id = l.partner_id and d.status = 'pendente'
                       and d.next_attempt_at between l.scan_from and l.flying_to
      where l.flying_to is not null and d.claimed_by is not null and poller_number(${name}) = any (living.numbers)
      group by d.claimed_by
    ) held
    where term_of(held.claim) is not null and poller_number(poller_of(held.claim)) <> all (living.numbers)
    limit ${AT_ONCE}`;
}

export interface DeadPollersDeps extends EngineDeps {
  /** Of the poller that looks. */
  readonly name: string;
}

export class DeadPollers {
  readonly #deps: DeadPollersDeps;
  #server: string | null = null;
  /** Of this poller's own lock; null at first. */
  #term: number | null = null;
  #living: readonly number[] = [];
  #graceUntilMs = Number.NEGATIVE_INFINITY;
  #lookUntilMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time at which each claim was first seen without a lock. */
  #seenAtMs = new Map<string, number>();

  constructor(deps: DeadPollersDeps) {
    this.#deps = deps;
  }

  /**
   * Reads which pollers live, from this poller's own sign of life in `term`, and ends the claims of pollers that have been dead for
   * the grace. Returns in how many milliseconds the next claims may be ended; null when there are none.
   */
  async look(pulse: Pulse, term: number): Promise<number | null> {
    const { pool, monotonicMs, name } = this.#deps;
    const startedAtMs = monotonicMs();
    if (term !== this.#term || pulse.server !== this.#server) this.#beginAnew(pulse, term, startedAtMs);
    const living = new Set(pulse.living);
    if (this.#living.some((number) => !living.has(number))) this.#lookUntilMs = startedAtMs + SETTLE_MS;
    this.#living = pulse.living;
    if (pulse.server === null || startedAtMs < this.#graceUntilMs) return null;
    if (!this.#isTimeToLook(startedAtMs, pulse.rank)) return null;
    this.#lookedAtMs = startedAtMs;
    const held = await pool.run((sql) => readOrphans(sql, name));
    // Read after the answer: each of them had lost its lock before that.
    const answeredAtMs = monotonicMs();
    const first = this.#seenAtMs;
    this.#seenAtMs = new Map(held.map(({ claim }) => [claim, first.get(claim) ?? answeredAtMs]));
    const oldestMs = startedAtMs - GRACE_MS;
    await this.#end(held.filter(({ claim }) => (this.#seenAtMs.get(claim) ?? answeredAtMs) <= oldestMs));
    const waiting = [...this.#seenAtMs.values()].filter((seenAtMs) => seenAtMs > oldestMs);
    return waiting.length === 0 ? null : Math.max(0, Math.min(...waiting) + GRACE_MS - monotonicMs());
  }

  /** Those behind others look the less often: when each looked at every beat, 16 pollers spent more on this than on claims. */
  #isTimeToLook(atMs: number, rank: number): boolean {
    const agoMs = atMs - this.#lookedAtMs;
    if (agoMs >= LOOK_EVERY_MS * (1 + rank)) return true;
    return this.#seenAtMs.size > 0 || (atMs < this.#lookUntilMs && agoMs >= rank * 1_000 * TIMES_S.beat);
  }

  /** Forgets earlier looks: they say nothing of who lives now. */
  #beginAnew(pulse: Pulse, term: number, atMs: number): void {
    // Who comes to a server that has been there for long finds its pollers there; nobody else can know who is yet to return.
    const ageMs = this.#term === null ? Math.max(0, pulse.serverAgeMs) : 0;
    this.#term = term;
    this.#server = pulse.server;
    this.#living = [];
    this.#seenAtMs.clear();
    this.#graceUntilMs = atMs + START_GRACE_MS - Math.min(ageMs, START_GRACE_MS);
    this.#lookUntilMs = this.#graceUntilMs + SETTLE_MS;
  }

  async #end(orphans: readonly Orphan[]): Promise<void> {
    const { pool, log, now } = this.#deps;
    for (let from = 0; from < orphans.length; from += BATCH) {
      const batch = orphans.slice(from, from + BATCH);
      const ended = await pool.transaction(async (tx) => {
        const [{ taken }] = await tx<[{ taken: boolean }]>`
          select pg_try_advisory_xact_lock(advisory_lock('ending')) as taken`;
        return taken ? endClaims(tx, batch, now()) : 0;
      });
      if (ended === 0) continue;
      const pollers = [...new Set(batch.map(({ poller }) => poller))];
      log.warn({ deliveries: ended, pollers }, 'pollers are gone: ended their claims, what they sent is desconhecido');
    }
  }
}
