/**
 * The poller: claim, send, record, over and over; any number of them on any number of machines.
 *
 * Invariant: nothing is kept here but what is in flight. A delivery counts against `capacity` from its claim until its
 * record has committed, so a database that is away stops the claims by itself and memory stays bounded.
 * Crash: the leases end and other pollers take over.
 * Wake-up is polling, but in the server, by a function that looks every 1 to 20 ms: a look costs 10 µs there, and no round
 * trip. While an event is being appended it waits for the end of that transaction instead of sleeping, by a lock that the
 * core takes only if it need not wait (drizzle/functions/wait_for_work.sql). NOTIFY there would take a global lock at commit (8
 * writers: 4,680 → 1,408 commits/s), and was no quicker.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pool } from '../db/pool.ts';
import { logFailedTry } from '../db/unavailable.ts';
import type { Logger } from '../log-lines.ts';
import type { Metrics } from '../metrics.ts';
import type { Patience } from './arrivals.ts';
import type { ClaimedDelivery } from './claim.ts';
import { type Claim, Claimer } from './claimer.ts';
import { ClaimsAhead } from './claims-ahead.ts';
import { LEASE_S, MIN_LEASE_LEFT_MS } from './lease.ts';
import { Pause } from './pause.ts';
import { type Flight, Places } from './places.ts';
import { Recorder } from './recorder.ts';
import { logFailure } from './failure-log.ts';
import { releaseDeliveries } from './release.ts';
import type { Report } from './report.ts';
import { signRequest } from './request.ts';
import type { Sender } from './send.ts';
import { type OpenKey, type OpenSecret, rememberKeys } from './signing-keys.ts';
import { Sweeper } from './sweep.ts';

export interface PollerDeps {
  /** A pool of the poller's own, with the settings of session.ts: claim, record and sweep. */
  readonly pool: Pool;
  readonly sender: Pick<Sender, 'send'>;
  /** Opens a registration's sealed secret; throws when it cannot. */
  readonly openSecret: OpenSecret;
  readonly log: Logger;
  readonly metrics?: Pick<Metrics, 'countAttempt' | 'countStranded'>;
  /** Unique among all pollers; it is written on every attempt row. */
  readonly name: string;
  /** Deliveries in flight at most. */
  readonly capacity: number;
  /** Monotonic milliseconds, on the sender's clock; it measures durations only. */
  readonly monotonicMs: () => number;
  /** Replaces the database's clock in tests; null is the database's own. */
  readonly now?: () => Date | null;
}

/** With less than this part free of what does not hang, a claim waits a little: each costs as much as 20 deliveries. */
const FEW_PLACES = 1 / 4;
const FEW_PLACES_MS = 10;
/** Requests that are made in one turn of the event loop. */
const SENT_AT_ONCE = 32;
/** A claim of so many is followed by the next one without a look whether there is more. */
const MANY = 32;
/**
 * How long an idle poller waits in the server, which looks for work every ms at first, later every 20 ms. `pg_sleep`
 * rounds up: 0.9 takes 1.1 ms; 1 takes 2.1 and adds half a millisecond from commit to arrival.
 */
const PATIENCE_MS = 100;
const NAP_MIN_MS = 0.9;
const NAP_MAX_MS = 20;
const OUTAGE_PAUSE_MS = 200;
/** A delivery that a fault of ours keeps from being sent is looked at again after this long. */
const FAULT_DELAY_S = 60;

export class Poller {
  readonly #deps: PollerDeps & Required<Pick<PollerDeps, 'now'>>;
  readonly #claimer: Claimer;
  readonly #recorder: Recorder;
  readonly #openKey: OpenKey;
  readonly #sweeper: Sweeper;
  readonly #places: Places;
  readonly #claimsAhead: ClaimsAhead;
  #stopping = false;
  #hasMore = false;
  readonly #idle = new Pause();
  #noneHeld: PromiseWithResolvers<void> | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: PollerDeps) {
    this.#deps = { now: () => null, ...deps };
    this.#claimer = new Claimer(this.#deps);
    this.#sweeper = new Sweeper(this.#deps);
    this.#claimsAhead = new ClaimsAhead(this.#deps);
    this.#openKey = rememberKeys(deps.openSecret);
    this.#places = new Places(deps.capacity);
    this.#recorder = new Recorder({
      ...this.#deps,
      onRecorded: (reports) => this.#letGo(reports),
    });
  }

  /** Deliveries claimed and not yet recorded. */
  get held(): number {
    return this.#places.held;
  }

  /**
   * One turn: waits for work as long as `patience` lasts, arms lanes, claims what is due and sends it. Returns how many
   * deliveries it claimed.
   */
  async tick(patience: Patience | null = null): Promise<number> {
    await this.#claimer.releaseDoubtful();
    const { free } = this.#places;
    if (free <= 0) return 0;
    const waits = this.#hasMore ? null : patience;
    const { claim, deliveries, more } = await this.#claimer.claim(free, waits, this.#places.shares());
    this.#hasMore = deliveries.length >= MANY || more;
    if (deliveries.length === 0) return 0;
    this.#places.take(claim.name, deliveries, claim.answeredAtMs);
    if (this.#stopping || !this.#hasLeaseLeft(claim, claim.answeredAtMs)) this.#giveBack(claim, deliveries);
    else void this.#sendAll(claim, deliveries);
    return deliveries.length;
  }

  /** Resolves when all that was claimed was sent and recorded, or given back, and what was found beside it is mended. */
  async settled(): Promise<void> {
    while (this.#places.held > 0) await (this.#noneHeld ??= Promise.withResolvers()).promise;
    await Promise.all([this.#recorder.settled(), this.#claimer.settled()]);
  }

  /** Ticks until {@link drain} is called; carries on by itself through outages of the database. */
  run(): Promise<void> {
    return (this.#running = this.#loop());
  }

  async #loop(): Promise<void> {
    let napMs = NAP_MIN_MS;
    while (!this.#stopping) {
      try {
        const claimed = await this.tick({ ms: PATIENCE_MS, napMs });
        await this.#sweeper.sweepNowAndThen();
        await this.#claimsAhead.endNowAndThen();
        napMs = claimed > 0 ? NAP_MIN_MS : Math.min(napMs * 1.1, NAP_MAX_MS);
        // What there is may be in the hands of another poller.
        if (claimed === 0 && !this.#hasMore) await this.#idle.last(napMs);
        await this.#idle.until(() => this.#stopping || this.#hasPlaces(), FEW_PLACES_MS, this.#deps.monotonicMs);
      } catch (error) {
        logFailedTry(
          this.#deps.log,
          error,
          'the database is out of reach, trying again',
          'a turn of the poller failed',
        );
        await this.#idle.last(OUTAGE_PAUSE_MS);
      }
    }
  }

  /** Stops claiming, waits for what is in flight, and records it. What was claimed but not sent is released. */
  async drain(): Promise<void> {
    this.#stopping = true;
    this.#idle.end();
    // A claim may be under way: what it took must be released before the connections close.
    await this.#running;
    await this.settled();
    try {
      await this.#claimer.releaseDoubtful(0);
    } catch (error) {
      this.#deps.log.warn({ error: (error as Error).name }, 'left a doubtful claim to the end of its lease');
    }
  }

  #hasPlaces(): boolean {
    return this.#places.hasFree(FEW_PLACES, this.#deps.monotonicMs());
  }

  #hasLeaseLeft(claim: Claim, atMs: number): boolean {
    return LEASE_S * 1_000 - (atMs - claim.startedAtMs) > MIN_LEASE_LEFT_MS;
  }

  #letGo(flights: readonly Flight[]): void {
    this.#places.letGo(flights);
    this.#idle.end();
    if (this.#places.held > 0) return;
    this.#noneHeld?.resolve();
    this.#noneHeld = null;
  }

  /** A few at a time: what answers meanwhile, receivers and the database, gets its turn in between. */
  async #sendAll(claim: Claim, deliveries: readonly ClaimedDelivery[]): Promise<void> {
    for (const [index, delivery] of deliveries.entries()) {
      if (index > 0 && index % SENT_AT_ONCE === 0) await nextTurn();
      try {
        this.#send(claim, delivery);
      } catch (error) {
        this.#giveUp(claim, delivery, error as Error);
      }
    }
  }

  /**
   * Throws, or the sender's answer is an error, only before anything was sent. The clock is read once: with two readings, a
   * process paused between them could send after its lease had ended and record an earlier start.
   */
  #send(claim: Claim, delivery: ClaimedDelivery): void {
    const { sender, monotonicMs } = this.#deps;
    const startedAtMs = monotonicMs();
    if (!this.#hasLeaseLeft(claim, startedAtMs)) return this.#giveBack(claim, [delivery]);

    const sentAt = new Date(delivery.claimedAt.getTime() + startedAtMs - claim.answeredAtMs);
    const { request, keyId } = signRequest(delivery, this.#openKey, sentAt);
    sender.send(request, startedAtMs).then(
      (result) => this.#report(claim, delivery, { keyId, startedAtMs, result }),
      (error: unknown) => this.#giveUp(claim, delivery, error as Error),
    );
  }

  #report(claim: Claim, delivery: ClaimedDelivery, sent: Pick<Report, 'keyId' | 'startedAtMs' | 'result'>): void {
    const { log, metrics } = this.#deps;
    const { keyId, startedAtMs, result } = sent;
    metrics?.countAttempt(result.outcome);
    if (result.outcome !== 'entregue') logFailure(log, delivery, result);
    const { id: deliveryId, webhookId, partnerId, number, url, claimedAt } = delivery;
    const startedByMs = claimedAt.getTime() + startedAtMs - claim.startedAtMs;
    this.#recorder.add({
      deliveryId,
      webhookId,
      partnerId,
      number,
      claim: claim.name,
      url,
      keyId,
      startedAtMs,
      startedByMs,
      result,
    });
  }

  #giveUp(claim: Claim, delivery: ClaimedDelivery, error: Error): void {
    const fields = { delivery_id: delivery.id, webhook_id: delivery.webhookId, error: error.message };
    this.#deps.log.error(fields, 'a fault of ours kept a delivery from being sent');
    this.#giveBack(claim, [delivery], FAULT_DELAY_S);
  }

  /** Releases unsent deliveries. If that fails their leases end by themselves; nothing was sent either way. */
  #giveBack(claim: Claim, deliveries: readonly ClaimedDelivery[], delayS = 0): void {
    const { pool, log, now } = this.#deps;
    const ids = deliveries.map((delivery) => delivery.id);
    void pool
      .transaction((tx) => releaseDeliveries(tx, claim.name, ids, delayS, now()))
      .catch((error: unknown) => {
        log.warn({ deliveries: ids.length, error: (error as Error).name }, 'cannot release unsent deliveries');
      })
      .finally(() => this.#letGo(deliveries.map(({ partnerId }) => ({ claim: claim.name, partnerId }))));
  }
}
