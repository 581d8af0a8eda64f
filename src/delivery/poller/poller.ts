/**
 * The poller: claim, send, record, repeat; any number of pollers on any number of machines.
 * Invariant: a delivery counts against `capacity` from its claim until its record has committed. So an unreachable database stops the
 * claims, and memory stays bounded.
 * Crash: others take its lanes and end its claims once the lock under its name is gone (liveness.ts). Draining hands the lanes back.
 * An idle poll waits inside the server: a function checks for work every 1 to 50 ms if a transaction has ended since its last check, and
 * waits for open appends (wait_for_work.sql). A check costs 10 µs and no round trip.
 * Measured alternative: NOTIFY takes a global lock at commit (8 writers: 4,680 → 1,408 commits/s) and was no quicker.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { isLegibleBody } from '../../contract/legible.ts';
import { logFailedTry, restAfter } from '../../db/outage-log.ts';
import type { DeliveryMetrics } from '../../telemetry/delivery-metrics.ts';
import { writeTraceparent } from '../../telemetry/traceparent.ts';
import { endAttempt, startAttempt } from '../../telemetry/traces.ts';
import { ageS } from '../../telemetry/uuid-age.ts';
import type { ClaimedDelivery, PollWait } from '../queue/claim.ts';
import { type Claim, Claimer } from './claimer.ts';
import { Consent } from '../queue/consent.ts';
import type { EngineDeps } from '../queue/engine-deps.ts';
import { MIN_LEASE_LEFT_MS } from '../queue/lease.ts';
import { OwnRecords } from './own-records.ts';
import { Pause } from './pause.ts';
import { type Flight, Slots } from '../queue/slots.ts';
import { Recorder } from './recorder.ts';
import { FailureLog } from './failure-log.ts';
import { attributesOf, makeReport, type Sent } from './report-of.ts';
import { signRequest } from './request.ts';
import { ACTIVE_POLLERS, FEW_SLOTS_MS, PollBackoff, REST_MS, restsOf } from './poll-backoff.ts';
import { LEASE_ALONE, type Sign } from './liveness.ts';
import type { Sender } from '../sending/send.ts';
import { type Openers, rememberOpened, type ToOpen } from '../sending/openers.ts';
import { FailingRuns } from '../queue/maintenance/failing-runs.ts';
import { Sweeper } from '../queue/maintenance/sweep.ts';
import { Unsent } from './unsent.ts';

export interface PollerDeps extends ToOpen, Omit<EngineDeps, 'now'>, Partial<Pick<EngineDeps, 'now'>> {
  /** Absent: only the lease protects its claims. */
  readonly sign?: Sign;
  readonly sender: Pick<Sender, 'send'>;
  /** The newest checkpoint, which each POST carries (null: none). A claim's sends await its renewal. */
  readonly checkpoint?: { readonly header: string | null; renew(): Promise<void> };
  readonly metrics?: DeliveryMetrics;
  /** Unique among all pollers; it is written on every attempt row. */
  readonly name: string;
  readonly capacity: number;
}

/** While less than this part of the slots is free, a claim may wait for more. Slots of hanging POSTs do not count. */
const FEW_SLOTS = 1 / 4;
/** The backoff counts the first attempt of a delivery that is younger than this as an arrival; an older one was backlog. */
const JUST_S = 1;
/** Requests started in one turn of the event loop. */
const SENT_AT_ONCE = 32;
/** After a claim of at least this size the next claim follows without a check for work. */
const MANY = 32;
const OUTAGE_PAUSE_MS = 200;

export class Poller {
  readonly #deps: PollerDeps & EngineDeps & { readonly sign: Sign };
  readonly #claimer: Claimer;
  readonly #recorder: Recorder;
  readonly #openers: Openers;
  readonly #sweeper: Sweeper;
  readonly #slots: Slots;
  readonly #failures: FailureLog;
  readonly #unsent: Unsent;
  #stopping = false;
  #hasMore = false;
  #arrived = 0;
  readonly #records = new OwnRecords();
  readonly #backoff = new PollBackoff();
  readonly #idle = new Pause();
  #noneHeld: PromiseWithResolvers<void> | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: PollerDeps) {
    this.#deps = { now: () => null, sign: LEASE_ALONE, ...deps };
    const learned = { runs: new FailingRuns(deps.name), consent: new Consent() };
    this.#claimer = new Claimer({ ...this.#deps, ...learned });
    this.#sweeper = new Sweeper(this.#deps);
    this.#failures = new FailureLog(deps.log);
    this.#unsent = new Unsent({
      ...this.#deps,
      letGo: (claim, deliveries) => this.#gaveBack(claim, deliveries),
    });
    this.#openers = rememberOpened(deps);
    this.#slots = new Slots(deps.capacity);
    this.#recorder = new Recorder({
      ...this.#deps,
      ...learned,
      onRecorded: (reports, completions) => {
        if (reports.some(({ webhookId }) => this.#claimer.isFull(webhookId))) this.#records.observe(deps.monotonicMs());
        this.#claimer.completed(reports, completions);
        this.#letGo(reports);
      },
    });
  }

  get held(): number {
    return this.#slots.held;
  }

  /** One poll: waits for work at most `pollWait`, claims and sends. Returns the number of claimed deliveries. */
  async tick(pollWait: PollWait | null = null): Promise<number> {
    this.#arrived = 0;
    await this.#claimer.releaseDoubtful();
    if (this.#slots.free <= 0) {
      await this.#claimer.standBy(this.#slots);
      return 0;
    }
    const { claim, deliveries } = await this.#claimer.claim(this.#slots, this.#hasMore ? null : pollWait);
    this.#hasMore = deliveries.length >= MANY;
    if (deliveries.length === 0) return 0;
    this.#slots.take(claim.name, deliveries, claim.answeredAtMs);
    const hasArrived = ({ id, number, claimedAt }: ClaimedDelivery) => number === 1 && ageS(id, claimedAt) < JUST_S;
    this.#arrived = deliveries.filter(hasArrived).length;
    if (this.#stopping || !this.#hasLeaseLeft(claim, claim.answeredAtMs)) this.#unsent.giveBack(claim, deliveries);
    else void this.#sendAll(claim, deliveries);
    return deliveries.length;
  }

  /** Resolves when everything claimed is sent and recorded, or given back. */
  async settled(): Promise<void> {
    while (this.#slots.held > 0) await (this.#noneHeld ??= Promise.withResolvers()).promise;
    await Promise.all([this.#recorder.settled(), this.#claimer.settled()]);
  }

  /** Ticks until {@link drain} is called; survives outages of the database. */
  run(): Promise<void> {
    return (this.#running = this.#loop());
  }

  async #loop(): Promise<void> {
    const { monotonicMs, log } = this.#deps;
    while (!this.#stopping) {
      try {
        if (this.#claimer.isStuck) await this.#records.next(this.#idle, () => this.#stopping, monotonicMs);
        const claimed = await this.tick(this.#isSpare ? null : this.#backoff.pollWait());
        this.#backoff.observe(claimed, this.#arrived, monotonicMs());
        if (this.#claimer.keepsAny) await this.#sweeper.sweepNowAndThen();
        const isPressed = claimed > 0 && (this.#hasMore || this.#claimer.isWaiting);
        await this.#idle.until(() => this.#stopping, this.#backoff.gatheringMs(isPressed, monotonicMs()), monotonicMs);
        const slotsMs = this.#slots.free > 0 ? this.#backoff.slotsMs(monotonicMs()) : FEW_SLOTS_MS;
        await this.#idle.until(() => this.#stopping || this.#hasSlots(), slotsMs, monotonicMs);
        await this.#rest();
      } catch (error) {
        logFailedTry(log, error, 'the database is out of reach, trying again', 'a turn of the poller failed');
        await this.#idle.last(restAfter(error, OUTAGE_PAUSE_MS));
      }
    }
  }

  /** Stops claiming, hands over its lanes, and waits until what is in flight is recorded. Unsent claims are released. */
  async drain(): Promise<void> {
    this.#stopping = true;
    this.#idle.end();
    // A claim may be under way: its deliveries must be released before the connections close.
    await this.#running;
    await this.#claimer.handOver();
    await this.settled();
    await this.#claimer.leave();
  }

  /** Others keep all lanes, and come before it. */
  get #isSpare(): boolean {
    return !this.#claimer.keepsAny && this.#deps.sign.rank() >= ACTIVE_POLLERS;
  }

  async #rest(): Promise<void> {
    const { sign, monotonicMs } = this.#deps;
    for (let rests = 0; this.#isSpare && rests < restsOf(sign.rank(), this.#claimer.seesFree); rests += 1)
      await this.#idle.until(() => this.#stopping, REST_MS, monotonicMs);
  }

  #hasSlots(): boolean {
    return this.#slots.hasFree(FEW_SLOTS, this.#deps.monotonicMs());
  }

  #hasLeaseLeft(claim: Claim, atMs: number): boolean {
    return claim.leaseMs - (atMs - claim.startedAtMs) > MIN_LEASE_LEFT_MS;
  }

  #letGo(flights: readonly Flight[]): void {
    this.#slots.letGo(flights);
    this.#backoff.observeFreed(flights.length, this.#deps.monotonicMs());
    this.#idle.end();
    if (this.#slots.held > 0) return;
    this.#noneHeld?.resolve();
    this.#noneHeld = null;
  }

  #gaveBack(claim: Claim, deliveries: readonly ClaimedDelivery[]): void {
    this.#claimer.gaveBack(claim, deliveries);
    this.#letGo(deliveries.map(({ partnerId }) => ({ claim: claim.name, partnerId })));
  }

  async #sendAll(claim: Claim, deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const { sign, monotonicMs, checkpoint } = this.#deps;
    if (checkpoint !== undefined) await checkpoint.renew();
    for (const [index, delivery] of deliveries.entries()) {
      if (index > 0 && index % SENT_AT_ONCE === 0) await nextTick();
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
   * Throws, or resolves to a fault, only before anything was sent. The clock is read once: with two readings, a process paused between them
   * could send after its lease had ended and record an earlier start.
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
    const isAwaited = this.#claimer.isFull(delivery.webhookId) || result.outcome !== 'entregue' || !this.#hasSlots();
    this.#recorder.add(makeReport(claim, delivery, sent), isAwaited);
  }
}
