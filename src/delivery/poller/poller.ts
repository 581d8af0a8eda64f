/**
 * The poller: claim, send, record, over and over; any number of them on any number of machines.
 *
 * Invariant: nothing is kept here but what is in flight. A delivery counts against `capacity` from its claim until its
 * record has committed, so a database that is away stops the claims by itself and memory stays bounded.
 * Crash: others end its claims once the lock under its name is gone, or when their leases end (sign-of-life.ts).
 * Wake-up is polling inside the server: a function wakes every 1 to 50 ms, and looks for work if a transaction has ended since
 * its last look (drizzle/functions/wait_for_work.sql). A look costs 10 µs and no round trip. While an event is being appended,
 * the function waits for the end of that transaction instead of sleeping. NOTIFY in an append would take a global lock at
 * commit (8 writers: 4,680 → 1,408 commits/s), and was no quicker.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isLegibleBody } from '../../contract/legible.ts';
import { logFailedTry, restAfter } from '../../db/outage-log.ts';
import type { DeliveryMetrics } from '../../telemetry/delivery-metrics.ts';
import { writeTraceparent } from '../../telemetry/traceparent.ts';
import { endAttempt, startAttempt } from '../../telemetry/traces.ts';
import { ageS } from '../../telemetry/uuid-age.ts';
import type { Patience } from '../queue/arrivals.ts';
import type { ClaimedDelivery } from '../queue/claim.ts';
import { type Claim, Claimer, SELDOM } from './claimer.ts';
import { ClaimsAhead } from '../queue/upkeep/claims-ahead.ts';
import type { EngineDeps } from '../queue/engine-deps.ts';
import { MIN_LEASE_LEFT_MS } from '../queue/lease.ts';
import { Pause } from './pause.ts';
import { type Flight, Slots } from '../queue/slots.ts';
import { Recorder } from './recorder.ts';
import { FailureLog } from './failure-log.ts';
import { attributesOf, makeReport, type Sent } from './report-of.ts';
import { signRequest } from './request.ts';
import { FEW_SLOTS_MS, Rhythm } from './rhythm.ts';
import { LEASE_ALONE, type Sign } from './sign-of-life.ts';
import type { Sender } from '../sending/send.ts';
import { type Openers, rememberOpened, type ToOpen } from '../sending/openers.ts';
import { Sweeper } from '../queue/upkeep/sweep.ts';
import { Unsent } from './unsent.ts';

export interface PollerDeps extends ToOpen, Omit<EngineDeps, 'now'>, Partial<Pick<EngineDeps, 'now'>> {
  /** By which others know that it lives; its leases alone unless it is given. */
  readonly sign?: Sign;
  readonly sender: Pick<Sender, 'send'>;
  /** The newest checkpoint, which each POST carries (null: there is none), when a claim's sends have awaited its renewal. */
  readonly checkpoint?: { readonly header: string | null; renew(): Promise<void> };
  readonly metrics?: DeliveryMetrics;
  /** Unique among all pollers; it is written on every attempt row. */
  readonly name: string;
  /** Deliveries in flight at most. */
  readonly capacity: number;
}

/** While less than this part of the slots is free, a claim may wait for more. Hanging POSTs do not count. */
const FEW_SLOTS = 1 / 4;
/** The rhythm counts the first attempt of a delivery that is younger than this as an arrival; an older one was backlog. */
const JUST_S = 1;
/** Requests started in one turn of the event loop. */
const SENT_AT_ONCE = 32;
/** After a claim of at least this size the next claim follows at once, without a look for work. */
const MANY = 32;
/** The same for a poller behind others: these are to have the rest. */
const MANY_BEHIND = 128;
const OUTAGE_PAUSE_MS = 200;

export class Poller {
  readonly #deps: PollerDeps & EngineDeps & { readonly sign: Sign };
  readonly #claimer: Claimer;
  readonly #recorder: Recorder;
  readonly #openers: Openers;
  readonly #sweeper: Sweeper;
  readonly #slots: Slots;
  readonly #claimsAhead: ClaimsAhead;
  readonly #failures: FailureLog;
  readonly #unsent: Unsent;
  #stopping = false;
  #hasMore = false;
  /** A webhook has no slot left, so the next claim may be awaited. */
  #isPressed = false;
  /** How many deliveries of the last claim had just arrived. */
  #arrived = 0;
  /** It has waited behind others and found nothing. */
  #inVain = false;
  readonly #rhythm = new Rhythm();
  readonly #idle = new Pause();
  #noneHeld: PromiseWithResolvers<void> | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: PollerDeps) {
    this.#deps = { now: () => null, sign: LEASE_ALONE, ...deps };
    this.#claimer = new Claimer(this.#deps);
    this.#sweeper = new Sweeper(this.#deps);
    this.#claimsAhead = new ClaimsAhead(this.#deps);
    this.#failures = new FailureLog(deps.log);
    this.#unsent = new Unsent({ ...this.#deps, letGo: (flights) => this.#letGo(flights) });
    this.#openers = rememberOpened(deps);
    this.#slots = new Slots(deps.capacity);
    this.#recorder = new Recorder({
      ...this.#deps,
      onRecorded: (reports) => this.#letGo(reports),
    });
  }

  /** Deliveries claimed and not yet recorded. */
  get held(): number {
    return this.#slots.held;
  }

  /**
   * One turn: waits for work as long as `patience` lasts, claims deliveries and sends them. Returns how many deliveries it
   * claimed.
   */
  async tick(patience: Patience | null = null): Promise<number> {
    this.#arrived = 0;
    await this.#claimer.releaseDoubtful();
    if (this.#slots.free <= 0) return 0;
    const found = await this.#claimer.turn(this.#slots.free, this.#hasMore ? null : patience, this.#slots.shares());
    this.#inVain = found === null;
    if (found === null) return 0;
    const { claim, deliveries, more } = found;
    this.#hasMore = deliveries.length >= (patience?.lagMs ? MANY_BEHIND : MANY) || more;
    this.#isPressed = this.#hasMore || claim.full.size > 0;
    if (deliveries.length === 0) return 0;
    this.#slots.take(claim.name, deliveries, claim.answeredAtMs);
    this.#arrived = deliveries.filter(
      ({ id, number, claimedAt }) => number === 1 && ageS(id, claimedAt) < JUST_S,
    ).length;
    if (this.#stopping || !this.#hasLeaseLeft(claim, claim.answeredAtMs)) this.#unsent.giveBack(claim, deliveries);
    else void this.#sendAll(claim, deliveries);
    return deliveries.length;
  }

  /** Resolves when all that was claimed was sent and recorded, or given back, and what was found beside it is mended. */
  async settled(): Promise<void> {
    while (this.#slots.held > 0) await (this.#noneHeld ??= Promise.withResolvers()).promise;
    await Promise.all([this.#recorder.settled(), this.#claimer.settled()]);
  }

  /** Ticks until {@link drain} is called; carries on by itself through outages of the database. */
  run(): Promise<void> {
    return (this.#running = this.#loop());
  }

  async #loop(): Promise<void> {
    const { monotonicMs, sign, log } = this.#deps;
    while (!this.#stopping) {
      try {
        const patience = this.#rhythm.patience(this.#slots.shares().sated.length > 0, sign.rank());
        const claimed = await this.tick(patience);
        this.#rhythm.hear(claimed, this.#arrived, monotonicMs());
        await this.#sweeper.sweepNowAndThen(this.#inVain ? SELDOM : 1);
        await this.#claimsAhead.endNowAndThen(this.#inVain ? SELDOM : 1);
        const { lagMs = 0, restMs = 0 } = patience;
        // Another poller may hold what there is.
        if (claimed === 0 && !this.#hasMore && !this.#inVain) await this.#idle.last(this.#rhythm.napMs);
        const gatheringMs = this.#rhythm.gatheringMs(this.#isPressed, monotonicMs());
        const afterClaimMs = claimed < MANY_BEHIND ? Math.max(lagMs / 2, gatheringMs) : gatheringMs;
        await this.#idle.until(() => this.#stopping, this.#inVain ? restMs : afterClaimMs, monotonicMs);
        const slotsMs = this.#slots.free > 0 ? this.#rhythm.slotsMs(monotonicMs()) : FEW_SLOTS_MS;
        await this.#idle.until(() => this.#stopping || this.#hasSlots(), slotsMs, monotonicMs);
      } catch (error) {
        logFailedTry(log, error, 'the database is out of reach, trying again', 'a turn of the poller failed');
        await this.#idle.last(restAfter(error, OUTAGE_PAUSE_MS));
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

  #hasSlots(): boolean {
    return this.#slots.hasFree(FEW_SLOTS, this.#deps.monotonicMs());
  }

  #hasLeaseLeft(claim: Claim, atMs: number): boolean {
    return claim.leaseMs - (atMs - claim.startedAtMs) > MIN_LEASE_LEFT_MS;
  }

  #letGo(flights: readonly Flight[]): void {
    this.#slots.letGo(flights);
    this.#rhythm.hearFreed(flights.length, this.#deps.monotonicMs());
    this.#idle.end();
    if (this.#slots.held > 0) return;
    this.#noneHeld?.resolve();
    this.#noneHeld = null;
  }

  /** A few at a time: what answers meanwhile, receivers and the database, gets its turn in between. */
  async #sendAll(claim: Claim, deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const { sign, monotonicMs, checkpoint } = this.#deps;
    if (checkpoint !== undefined) await checkpoint.renew();
    for (const [index, delivery] of deliveries.entries()) {
      if (index > 0 && index % SENT_AT_ONCE === 0) await nextTurn();
      if (!sign.holds(claim, monotonicMs()) && !(await sign.renews(claim))) {
        return this.#unsent.giveBack(claim, deliveries.slice(index));
      }
      try {
        this.#send(claim, delivery);
      } catch (error) {
        this.#unsent.giveUp(claim, delivery, error as Error);
      }
    }
  }

  /**
   * Throws, or the sender's answer is an error, only before anything was sent. The clock is read once: with two readings, a
   * process paused between them could send after its lease had ended and record an earlier start.
   */
  #send(claim: Claim, delivery: ClaimedDelivery): void {
    const { sender, sign, checkpoint, monotonicMs } = this.#deps;
    const startedAtMs = monotonicMs();
    const isOurs = this.#hasLeaseLeft(claim, startedAtMs) && sign.holds(claim, startedAtMs);
    if (!isOurs) return this.#unsent.giveBack(claim, [delivery]);
    if (delivery.salt === null) return this.#unsent.endErased(claim, delivery);
    if (!isLegibleBody(delivery.body)) return this.#unsent.endUnreadable(claim, delivery);

    const sentAt = new Date(delivery.claimedAt.getTime() + startedAtMs - claim.answeredAtMs);
    const span = startAttempt(delivery.traceparent, claim.span);
    const trace = writeTraceparent(span.spanContext());
    const { request, keyId, bodyDigest } = signRequest(delivery, this.#openers, sentAt, trace, checkpoint?.header);
    if (delivery.number === 1) this.#deps.metrics?.observeFirstAttempt(ageS(delivery.id, sentAt));
    sender.send(request, startedAtMs).then(
      (result) => this.#report(claim, delivery, { keyId, bodyDigest, startedAtMs, result, span }),
      (error: unknown) => {
        endAttempt(span, (error as Error).name, () => ({ 'carteiro.delivery_id': delivery.id }));
        this.#unsent.giveUp(claim, delivery, error as Error);
      },
    );
  }

  #report(claim: Claim, delivery: ClaimedDelivery, sent: Sent): void {
    const { metrics, monotonicMs } = this.#deps;
    const { result, span } = sent;
    endAttempt(span, result.outcome === 'entregue' ? null : result.outcome, () => attributesOf(delivery, result));
    metrics?.countAttempt(result.outcome, result.durationMs);
    if (result.outcome !== 'entregue') this.#failures.add(delivery, result, monotonicMs());
    const isAwaited = claim.full.has(delivery.webhookId) || result.outcome !== 'entregue' || !this.#hasSlots();
    this.#recorder.add(makeReport(claim, delivery, sent), isAwaited);
  }
}
