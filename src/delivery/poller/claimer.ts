/**
 * A poller's claims: gives each a name of its own, and remembers those whose commit is unknown.
 *
 * Invariant: a claim without an answer may have committed, or may still commit while the server works through it.
 * Nothing of it was sent. So it is released, again and again, until its rows were found or its lease is over.
 */
import type { SpanContext } from '@opentelemetry/api';
import { leaveToCommit } from '../../db/transaction.ts';
import type { DeliveryMetrics } from '../../telemetry/delivery-metrics.ts';
import { tellOf } from '../../telemetry/traces.ts';
import type { Patience } from '../queue/arrivals.ts';
import { type ClaimedDelivery, takeTurn, type Turn, waitBehindOthers } from '../queue/claim.ts';
import { Cleaner } from '../queue/upkeep/cleaner.ts';
import { DueMark } from '../queue/upkeep/due-mark.ts';
import type { EngineDeps } from '../queue/engine-deps.ts';
import { HourCounter } from '../queue/upkeep/hour-counter.ts';
import { LEASE_S } from '../queue/lease.ts';
import { Mender } from '../queue/upkeep/mender.ts';
import type { Shares } from '../queue/slots.ts';
import { releaseClaim } from '../queue/release.ts';
import { LEASE_ALONE, type Sign, type Standing } from './sign-of-life.ts';

export interface ClaimerDeps extends EngineDeps {
  readonly metrics?: Pick<DeliveryMetrics, 'countClaim'>;
  /** The poller's name, unique among all. */
  readonly name: string;
  /** Its leases alone unless it is given. */
  readonly sign?: Sign;
}

/** A claim with the monotonic time before which its lease cannot have begun. */
export interface Claim extends Standing {
  readonly name: string;
  readonly startedAtMs: number;
  /** How long it is the poller's from then on, as the database counts. */
  readonly leaseMs: number;
  /** Monotonic; the deliveries were claimed before that. */
  readonly answeredAtMs: number;
  /** Webhooks that it left without a free slot: what they wait for is the record of these deliveries. */
  readonly full: ReadonlySet<string>;
  /** Of a claim that took something; absent where nobody records spans. */
  readonly span?: SpanContext | undefined;
}

interface Found {
  readonly claim: Claim;
  readonly deliveries: ClaimedDelivery[];
  readonly more: boolean;
}

/** A claim that may have committed. */
interface Doubtful {
  readonly name: string;
  readonly startedAtMs: number;
  readonly triedAtMs: number;
}

const RELEASE_EVERY_MS = 1_000;
/** While a poller behind others finds nothing, it looks after shared upkeep this much less often. */
export const SELDOM = 1 / 32;

export class Claimer {
  readonly #deps: ClaimerDeps;
  readonly #cleaner: Cleaner;
  readonly #dueMark: DueMark;
  readonly #mender: Mender;
  readonly #hourCounter: HourCounter;
  /** How much of what all share it looks after: 1 or less. */
  #often = 1;
  #claims = 0;
  #doubtful: Doubtful[] = [];

  constructor(deps: ClaimerDeps) {
    this.#deps = deps;
    this.#cleaner = new Cleaner(deps);
    this.#dueMark = new DueMark(deps);
    this.#mender = new Mender(deps);
    this.#hourCounter = new HourCounter(deps);
  }

  /** A claim as {@link claim} makes it; null where `patience` waits behind other pollers, and it was in vain. */
  async turn(slots: number, patience: Patience | null, shares: Shares): Promise<Found | null> {
    if (patience === null || !patience.lagMs) return this.claim(slots, patience, shares);
    return (await this.#findsBehind(patience, shares)) ? this.claim(slots, null, shares) : null;
  }

  /**
   * Waits for work as long as `patience` lasts (null: not at all), takes what arrived and claims up to `slots` deliveries,
   * of each partner no more than its share (null: as many as there are). `more` is true when arrivals were left for another turn.
   */
  async claim(slots: number, patience: Patience | null, shares: Shares | null = null): Promise<Found> {
    const { pool, metrics, name, sign = LEASE_ALONE, monotonicMs, now } = this.#deps;
    const term = await sign.term();
    const dueFrom = this.#dueMark.get();
    const claim = {
      name: `${name}/${term === null ? '' : `${term}.`}${(this.#claims += 1)}`,
      startedAtMs: monotonicMs(),
    };
    let taking: Promise<Turn> | undefined;
    try {
      await pool.transaction((tx) => {
        taking = takeTurn(tx, claim.name, slots, now(), dueFrom, shares, patience);
        leaveToCommit(tx, taking);
        return Promise.resolve();
      });
      const { deliveries, inactive, lost, full, arrived, more, server, leaseMs } = (await taking) as Turn;
      this.#mender.mend(inactive, lost);
      this.#cleaner.count(arrived);
      this.#often = 1;
      this.#hourCounter.countNowAndThen();
      const found = { ...claim, leaseMs, term, server, answeredAtMs: monotonicMs(), full };
      if (deliveries.length === 0) return { claim: found, deliveries, more };
      metrics?.countClaim(deliveries.length);
      const span = tellOf('claim', claim.startedAtMs, { 'carteiro.deliveries': deliveries.length });
      return { claim: { ...found, span }, deliveries, more };
    } catch (error) {
      this.#doubtful.push({ ...claim, triedAtMs: -Infinity });
      throw error;
    }
  }

  async #findsBehind(patience: Patience, { sated }: Shares): Promise<boolean> {
    const { pool, now } = this.#deps;
    const dueFrom = this.#dueMark.get(this.#often);
    const hasWork = await pool.run((sql) => waitBehindOthers(sql, patience, now(), dueFrom, sated));
    this.#often = hasWork ? 1 : SELDOM;
    if (!hasWork) this.#hourCounter.countNowAndThen(SELDOM);
    return hasWork;
  }

  /** Resolves when nothing is under way beside the claims. */
  async settled(): Promise<void> {
    const parts = [this.#mender, this.#cleaner, this.#dueMark, this.#hourCounter];
    await Promise.all(parts.map((part) => part.settled()));
  }

  /** Releases the claims whose commit is unknown; throws while the database is out of reach. */
  async releaseDoubtful(everyMs = RELEASE_EVERY_MS): Promise<void> {
    const { pool, log, monotonicMs, now } = this.#deps;
    for (const claim of this.#doubtful) {
      const triedAtMs = monotonicMs();
      if (triedAtMs - claim.triedAtMs < everyMs) continue;
      const count = await pool.transaction((tx) => releaseClaim(tx, claim.name, now()));
      if (count > 0) log.warn({ deliveries: count }, 'released a claim whose commit was unknown');
      const isOver = count > 0 || triedAtMs - claim.startedAtMs > LEASE_S * 1_000;
      this.#doubtful = this.#doubtful.flatMap((other) => {
        if (other.name !== claim.name) return [other];
        return isOver ? [] : [{ ...claim, triedAtMs }];
      });
    }
  }
}
