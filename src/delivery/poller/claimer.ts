/**
 * A poller's claims on the lanes that it keeps (keeping.ts): plans each poll and applies its result.
 * Invariant: one poll at a time; lanes are taken between polls.
 * Crash or no answer: the claim may have committed, or may still commit. Nothing of it was sent and no state here has moved. Its row of
 * `claims` is deleted repeatedly until it was found or the lease is over.
 */
import type { SpanContext } from '@opentelemetry/api';
import { leaveToCommit } from '../../db/transaction.ts';
import type { DeliveryMetrics } from '../../telemetry/delivery-metrics.ts';
import { recordSpan } from '../../telemetry/traces.ts';
import { gatherAnswers } from '../queue/answers.ts';
import { type ClaimedDelivery, clearClaims, deliveryOf, type PollWait, pollLanes, type Poll } from '../queue/claim.ts';
import { KeptLanes } from '../queue/lanes/kept-lanes.ts';
import { LEASE_S } from '../queue/lease.ts';
import type { Completion } from '../queue/record.ts';
import type { Report } from '../queue/report.ts';
import type { Slots } from '../queue/slots.ts';
import { endPoller } from '../queue/maintenance/dead-pollers.ts';
import { HourCounter } from '../queue/maintenance/hour-counter.ts';
import { Keeping, type KeepingDeps } from './keeping.ts';
import type { Standing } from './liveness.ts';

export interface ClaimerDeps extends KeepingDeps {
  readonly metrics?: Pick<DeliveryMetrics, 'countClaim'>;
}

/** A claim with the monotonic time before which its lease cannot have begun. */
export interface Claim extends Standing {
  readonly name: string;
  readonly number: number;
  readonly startedAtMs: number;
  /** The lease, as the database counts it. */
  readonly leaseMs: number;
  /** Monotonic; the deliveries were claimed before that. */
  readonly answeredAtMs: number;
  /** Of a claim that took something; absent if spans are not recorded. */
  readonly span?: SpanContext | undefined;
}

interface Doubtful {
  readonly number: number;
  readonly startedAtMs: number;
  readonly triedAtMs: number;
}

const RELEASE_EVERY_MS = 1_000;
/** The wait in the server when only lanes without a slot of their own have work. */
const WAITING_MS = 50;
const AT_SHARE_MS = 20;
const CLEARED_AT_ONCE = 256;

export class Claimer {
  readonly #deps: ClaimerDeps;
  readonly #lanes = new KeptLanes();
  readonly #keeping: Keeping;
  readonly #hourCounter: HourCounter;
  #numbers = 0;
  /** When it cleared its claims last, and up to which. */
  #cleared = { at: 0, below: 0 };
  /** The server and the term of the last poll. */
  #under: string | null = null;
  /** The database's clock less the monotonic one, in ms. */
  #clockMs = Date.now() - performance.now();
  /** By claim: how many deliveries are not recorded yet; oldest first. */
  readonly #open = new Map<number, number>();
  #doubtful: Doubtful[] = [];

  constructor(deps: ClaimerDeps) {
    this.#deps = deps;
    this.#keeping = new Keeping(deps, this.#lanes);
    this.#hourCounter = new HourCounter(deps);
  }

  get keepsAny(): boolean {
    return this.#lanes.size > 0;
  }

  /** Some lanes were free at its last heartbeat. */
  get seesFree(): boolean {
    return this.#keeping.seesFree;
  }

  get isWaiting(): boolean {
    return this.#lanes.isWaiting(this.#nowMs());
  }

  /** True while a lane has more to send and none of those has a slot. */
  get isStuck(): boolean {
    return this.#lanes.isStuck(this.#nowMs());
  }

  isFull(webhookId: string): boolean {
    return this.#lanes.isFull(webhookId, this.#nowMs());
  }

  async claim(slots: Slots, pollWait: PollWait | null) {
    const { pool, metrics, name, sign, monotonicMs, now } = this.#deps;
    const term = await sign.term();
    await this.#keeping.keep(slots);
    await this.#clearNowAndThen();
    const ask = this.#lanes.plan(slots, this.#nowMs());
    const number = (this.#numbers += 1);
    const [doneBelow = number] = this.#open.keys();
    const startedAtMs = monotonicMs();
    let taking: Promise<Poll> | undefined;
    let poll: Poll;
    try {
      await pool.transaction((tx) => {
        const wait = ask.hooks.length > 0 || ask.loans !== null ? null : this.#shortened(pollWait, slots);
        taking = pollLanes(tx, { poller: name, number, doneBelow }, this.#lanes.seen, ask, wait, now());
        leaveToCommit(tx, taking);
        return Promise.resolve();
      });
      poll = (await taking) as Poll;
    } catch (error) {
      this.#doubtful.push({ number, startedAtMs, triedAtMs: -Infinity });
      throw error;
    }
    const answeredAtMs = monotonicMs();
    const { rows, server, leaseMs, claimedAt } = poll;
    this.#clockMs = claimedAt.getTime() - answeredAtMs;
    const due = this.#lanes.apply(ask, rows, claimedAt.getTime());
    this.#lanes.seen = poll.seen;
    // Another server may have lost what this process knows; so may this one: one that restarts after a crash ends all sessions.
    const under = `${server} ${term}`;
    if (under !== this.#under && this.#under !== null) this.#keeping.doubt();
    this.#under = under;
    this.#keeping.isStale = poll.hasChanged;
    if (this.keepsAny) this.#hourCounter.countNowAndThen();
    const claim: Claim = {
      name: `${name}/${term === null ? '' : `${term}.`}${number}`,
      number,
      startedAtMs,
      leaseMs,
      term,
      server,
      answeredAtMs,
    };
    if (due.length === 0) return { claim, deliveries: [] };
    this.#open.set(number, due.length);
    metrics?.countClaim(due.length);
    const deliveries = due.map((row) => deliveryOf(row, this.#laneOf(row.webhookId), claimedAt));
    return {
      claim: { ...claim, span: recordSpan('claim', startedAtMs, { 'carteiro.deliveries': due.length }) },
      deliveries,
    };
  }

  /** While no slot is free: gives the sign of life, and after a while hands back lanes it cannot serve. */
  async standBy(slots: Slots): Promise<void> {
    await this.#keeping.keep(slots);
  }

  completed(reports: readonly Report[], completions: ReadonlyMap<Report, Completion>): void {
    for (const answers of gatherAnswers(reports)) this.#lanes.answered(answers.webhookId, answers);
    for (const report of reports) {
      const { webhookId, deliveryId, number } = report;
      const retryAt = completions.get(report)?.retryAt;
      if (retryAt === undefined) this.#lanes.recheck(webhookId, deliveryId, number);
      else this.#lanes.complete(webhookId, deliveryId, number, retryAt);
      this.#close(report.claimNumber);
    }
  }

  gaveBack(claim: Claim, deliveries: readonly Pick<ClaimedDelivery, 'id' | 'webhookId' | 'number'>[]): void {
    for (const { id, webhookId, number } of deliveries) {
      this.#lanes.recheck(webhookId, id, number);
      this.#close(claim.number);
    }
  }

  async settled(): Promise<void> {
    await Promise.all([this.#keeping.settled(), this.#hourCounter.settled()]);
  }

  /** Hands back all lanes before the deliveries in flight have ended. */
  async handOver(): Promise<void> {
    await this.#orElse(this.#keeping.handOver());
  }

  /** Call it when nothing is in flight any more. */
  async leave(): Promise<void> {
    const { pool, name } = this.#deps;
    await this.#orElse(this.releaseDoubtful(0).then(() => pool.transaction((tx) => endPoller(tx, name, true))));
  }

  async #orElse(left: Promise<unknown>): Promise<void> {
    await left.catch((error: Error) =>
      this.#deps.log.warn({ error: error.name }, 'left its lanes to the others, who notice that it is gone'),
    );
  }

  async #clearNowAndThen(): Promise<void> {
    const { pool, name } = this.#deps;
    if (this.#numbers - this.#cleared.at < CLEARED_AT_ONCE) return;
    const [below = this.#numbers] = this.#open.keys();
    // Below that lie dead rows.
    const from = this.#cleared.below;
    await pool.run((sql) => clearClaims(sql, name, from, below));
    this.#cleared = { at: this.#numbers, below };
  }

  /** Deletes the claims whose commit is unknown and the recorded ones; throws while the database is unreachable. */
  async releaseDoubtful(everyMs = RELEASE_EVERY_MS): Promise<void> {
    const { pool, log, name, monotonicMs } = this.#deps;
    for (const claim of this.#doubtful) {
      const triedAtMs = monotonicMs();
      if (triedAtMs - claim.triedAtMs < everyMs) continue;
      const count = await pool.transaction((tx) => clearClaims(tx, name, claim.number, claim.number + 1));
      if (count > 0) log.warn({ claims: count }, 'released a claim whose commit was unknown');
      const isOver = count > 0 || triedAtMs - claim.startedAtMs > LEASE_S * 1_000;
      this.#doubtful = this.#doubtful.flatMap((other) => {
        if (other.number !== claim.number) return [other];
        return isOver ? [] : [{ ...claim, triedAtMs }];
      });
    }
  }

  #nowMs(): number {
    return this.#deps.now()?.getTime() ?? this.#deps.monotonicMs() + this.#clockMs;
  }

  #laneOf(webhookId: string) {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) throw new Error(`the lane of ${webhookId} is not kept`);
    return lane;
  }

  #close(number: number): void {
    const left = (this.#open.get(number) ?? 1) - 1;
    if (left > 0) this.#open.set(number, left);
    else this.#open.delete(number);
  }

  #shortened(pollWait: PollWait | null, slots: Slots): PollWait | null {
    if (pollWait === null || !this.isWaiting) return pollWait;
    return { ...pollWait, ms: Math.min(pollWait.ms, slots.shares().atShare.length > 0 ? AT_SHARE_MS : WAITING_MS) };
  }
}
