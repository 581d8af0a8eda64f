/**
 * The recorder: gathers reports and writes them in batches.
 * Invariant: a report is held until its flush has committed. If a flush failed, or its commit is unknown, it is repeated unchanged; the
 * record is idempotent.
 * Crash: the held reports are lost; their leases end, and the attempts are logged as `desconhecido`.
 * A flush starts GATHER_MS after the first report that somebody waits for, LAZY_MS after any other, or at once with ENOUGH reports: a
 * commit per attempt costs an fsync each. Two flushes may overlap, so that slots do not wait for the previous flush. If the server
 * cancels a flush that waits for a lock, the flush is split, so that a locked delivery delays only its own report.
 */
import { logFailedTry, logUnavailable } from '../../db/outage-log.ts';
import { codeOf, isUnavailable } from '../../db/unavailable.ts';
import type { DeliveryMetrics } from '../../telemetry/delivery-metrics.ts';
import { recordSpan } from '../../telemetry/traces.ts';
import type { EngineDeps } from '../queue/engine-deps.ts';
import { heldByOthers, type Completion, record } from '../queue/record.ts';
import { endLost } from '../queue/rescuer.ts';
import type { Report } from '../queue/report.ts';
import type { FailingRuns } from '../queue/maintenance/failing-runs.ts';
import type { Consent } from '../queue/consent.ts';
import { Targets } from '../queue/targets.ts';

const BATCH = 512;
const ENOUGH = 128;
const GATHER_MS = 5;
/** After a crash the reports of at most this time are lost, and their deliveries sent again. */
const LAZY_MS = 25;
const MAX_FLUSHES = 2;
const RETRY_MS = 100;
const LOCKED_MS = 1_000;

export interface RecorderDeps extends EngineDeps {
  readonly metrics?: Pick<DeliveryMetrics, 'countRecord'>;
  readonly runs: FailingRuns;
  readonly consent: Consent;
  /** Called after these reports were recorded or given up. */
  readonly onRecorded: (reports: readonly Report[], completions: ReadonlyMap<Report, Completion>) => void;
}

export class Recorder {
  readonly #deps: RecorderDeps;
  #waiting: Report[] = [];
  readonly #flushes = new Set<Promise<void>>();
  readonly #targets = new Targets();
  /** Reports taken out of flushes that waited too long for a lock. */
  #heldUp: Report[] = [];
  #freeing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #isDue = false;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /** Takes over a report. `isAwaited`: the next claim depends on it. */
  add(report: Report, isAwaited = true): void {
    this.#waiting.push(report);
    if (this.#waiting.length >= ENOUGH) this.#isDue = true;
    else this.#gatherFor(isAwaited ? GATHER_MS : LAZY_MS);
    this.#startFlushes();
  }

  #gatherFor(ms: number): void {
    const atMs = this.#deps.monotonicMs() + ms;
    if (atMs >= this.#dueAtMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dueAtMs = atMs;
    this.#timer = setTimeout(() => this.#gathered(), ms);
  }

  async settled(): Promise<void> {
    while (this.#waiting.length + this.#flushes.size > 0 || this.#freeing !== null) {
      this.#gathered();
      await Promise.all([...this.#flushes, this.#freeing]);
    }
  }

  #gathered(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    this.#isDue = true;
    this.#startFlushes();
  }

  #startFlushes(): void {
    while (this.#isDue && this.#waiting.length > 0 && this.#flushes.size < MAX_FLUSHES) {
      const batch = this.#waiting.splice(0, BATCH);
      this.#isDue = this.#waiting.length > 0;
      const flush = this.#flush(batch).then((done) => {
        this.#flushes.delete(flush);
        // Remove the flush first; notifying earlier cost 10 MiB.
        this.#deps.onRecorded([...done.keys()], done);
        this.#startFlushes();
      });
      this.#flushes.add(flush);
    }
  }

  /** Never rejects; returns the reports that need no further try. */
  async #flush(batch: readonly Report[]): Promise<ReadonlyMap<Report, Completion>> {
    const { pool, log, metrics, monotonicMs, now } = this.#deps;
    const startedMs = monotonicMs();
    try {
      const completions = await this.#persist(() => record(pool, batch, monotonicMs, now()));
      const standings = [...completions.values()].map(({ standing }) => standing);
      metrics?.countRecord(standings, monotonicMs() - startedMs);
      recordSpan('record', startedMs, { 'carteiro.attempts': batch.length }, () => batch.map(({ span }) => span));
      const late = standings.filter((standing) => standing === 'late').length;
      if (late > 0) log.warn({ late }, 'attempts reported after their lease was lost');
      await this.#learn(batch, completions);
      return completions;
    } catch (error) {
      if (hasWaitedTooLong(error)) {
        this.#heldUp.push(...batch);
        this.#freeing ??= this.#flushFreed().finally(() => (this.#freeing = null));
        return new Map();
      }
      if (batch.length > 1) {
        const done = new Map<Report, Completion>();
        for (const report of batch)
          for (const [one, completion] of await this.#flush([report])) done.set(one, completion);
        return done;
      }
      return this.#giveUp(batch[0] as Report, error);
    }
  }

  /** A refused report is a bug of ours. Its attempt is ended as lost: once later claims name it no more, nobody would write its row. */
  async #giveUp(report: Report, error: unknown): Promise<ReadonlyMap<Report, Completion>> {
    const { pool, log } = this.#deps;
    const { deliveryId } = report;
    log.error({ delivery_id: deliveryId, code: codeOf(error) }, 'an attempt cannot be recorded');
    try {
      await this.#persist(() => pool.transaction((tx) => endLost(tx, deliveryId)));
    } catch (fault) {
      log.error({ delivery_id: deliveryId, code: codeOf(fault) }, 'an attempt that cannot be recorded has no row');
    }
    // If it is due again it has a new row, which the next poll finds.
    return new Map([[report, { standing: 'repeated', retryAt: null }]]);
  }

  /** What fails here is learned with the next flush: a missing target costs bytes, a missing consent or failure one answer. */
  async #learn(batch: readonly Report[], completions: ReadonlyMap<Report, Completion>): Promise<void> {
    const { pool, log, now, runs, consent } = this.#deps;
    try {
      await this.#targets.learn(pool, batch);
      await consent.count(pool, batch, now());
      await runs.count(pool, completions);
    } catch (error) {
      log.warn(
        { code: codeOf(error) },
        'where attempts went, and what came of them for their webhooks, could not be noted',
      );
    }
  }

  /** Flushes held-up reports whose deliveries are free; does not wait for locks. */
  async #flushFreed(): Promise<void> {
    const { pool, log, onRecorded } = this.#deps;
    while (this.#heldUp.length > 0) {
      const asked = this.#heldUp.splice(0);
      const held = await this.#persist(() => heldByOthers(pool, asked)).catch((error: unknown) => {
        logFailedTry(log, error, 'cannot tell which deliveries are locked, trying again');
        return new Set(asked);
      });
      this.#heldUp.push(...held);
      const free = asked.filter((report) => !held.has(report));
      if (held.size > 0) log.warn({ deliveries: held.size }, 'cannot record attempts whose deliveries are locked');
      if (free.length > 0) {
        const done = await this.#flush(free);
        onRecorded([...done.keys()], done);
      } else await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
    }
  }

  /** Repeats `work` until it succeeds; throws only what a repetition would not cure. */
  async #persist<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isUnavailable(error) && !isContention(error)) throw error;
        logUnavailable(this.#deps.log, error, 'cannot record attempts yet, trying again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}

/** Deadlock or serialisation failure: the same flush can succeed next time. */
function isContention(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error) ?? '');
}

/** The server cancelled the statement, which happens only when it waits for a lock. */
function hasWaitedTooLong(error: unknown): boolean {
  return ['57014', '55P03'].includes(codeOf(error) ?? '');
}
