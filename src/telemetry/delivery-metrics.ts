/** What a poller tells of its work. Labels are the closed vocabularies of outcomes and standings. */
import { Counter, type Metric, type Registry } from 'prom-client';
import { FAILING_CHANGES, type FailingChange, type Outcome, OUTCOMES } from '../contract/statuses.ts';
import {
  ATTEMPT_BOUNDS_S,
  DATABASE_BOUNDS_S,
  FIRST_ATTEMPT_BOUNDS_S,
  Histogram,
  type HistogramSample,
} from './histogram.ts';

export interface DeliveryMetrics {
  /** An attempt that was sent, and how long it took. */
  countAttempt(outcome: Outcome, durationMs: number): void;
  /** From the append of a delivery to the start of its first attempt. */
  observeFirstAttempt(seconds: number): void;
  /** A claim that took so many deliveries. */
  countClaim(deliveries: number): void;
  /** A flush: how each of its reports was taken, and how long it took. */
  countRecord(standings: readonly Standing[], durationMs: number): void;
  /** A delivery that a fault of ours kept from being sent. */
  countSendFault(): void;
  /** Lanes that the sweep found stranded; expected to stay at 0. */
  countStranded(lanes: number): void;
  /** A webhook that the policy for failing endpoints has changed. */
  countFailing(change: FailingChange): void;
}

const STANDINGS = ['current', 'given_up', 'late', 'repeated'] as const;
type Standing = (typeof STANDINGS)[number];

/** The counters of one process. Those that count thousands a second are plain numbers until they are read. */
export function deliveryMetrics(exposition: Registry): DeliveryMetrics {
  const attempts = new Map(OUTCOMES.map((outcome) => [outcome, new Histogram(ATTEMPT_BOUNDS_S)]));
  const firsts = new Histogram(FIRST_ATTEMPT_BOUNDS_S);
  const flushes = new Histogram(DATABASE_BOUNDS_S);
  const failing = new Map(FAILING_CHANGES.map((change) => [change, 0]));
  const standings = new Map(STANDINGS.map((standing) => [standing, 0]));
  const counts = {
    attempts: new Map<Outcome, number>(OUTCOMES.map((outcome) => [outcome, 0])),
    claims: 0,
    claimed: 0,
    faults: 0,
    stranded: 0,
  };
  addCounters(exposition, counts, standings);
  showCounter(
    exposition,
    'carteiro_failing_changes_total',
    'Webhooks that this process has changed by the policy for failing endpoints: falhando, fim_da_falha, suspensao',
    'change',
    () => failing,
  );
  showHistogram(exposition, {
    name: 'carteiro_delivery_attempt_duration_seconds',
    help: 'How long attempts took that this process has sent, by outcome',
    labels: ['outcome'],
    series: () => [...attempts].map(([outcome, one]) => [{ outcome }, one] as const),
  });
  showHistogram(exposition, {
    name: 'carteiro_delivery_first_attempt_seconds',
    help: 'From the append of a delivery to the start of its first attempt',
    labels: [],
    series: () => [[{}, firsts]],
  });
  showHistogram(exposition, {
    name: 'carteiro_record_duration_seconds',
    help: 'How long it took to record attempts, many in one transaction',
    labels: [],
    series: () => [[{}, flushes]],
  });
  return {
    countAttempt(outcome, durationMs) {
      counts.attempts.set(outcome, (counts.attempts.get(outcome) ?? 0) + 1);
      attempts.get(outcome)?.observe(durationMs / 1_000);
    },
    observeFirstAttempt: (seconds) => firsts.observe(seconds),
    countClaim(deliveries) {
      counts.claims += 1;
      counts.claimed += deliveries;
    },
    countRecord(taken, durationMs) {
      for (const standing of taken) standings.set(standing, (standings.get(standing) ?? 0) + 1);
      flushes.observe(durationMs / 1_000);
    },
    countSendFault: () => void (counts.faults += 1),
    countStranded: (lanes) => void (counts.stranded += lanes),
    countFailing: (change) => void failing.set(change, (failing.get(change) ?? 0) + 1),
  };
}

interface Counts {
  readonly attempts: ReadonlyMap<Outcome, number>;
  readonly claims: number;
  readonly claimed: number;
  readonly faults: number;
  readonly stranded: number;
}

function addCounters(exposition: Registry, counts: Counts, standings: ReadonlyMap<Standing, number>): void {
  showCounter(
    exposition,
    'carteiro_delivery_attempts_total',
    'Attempts this process has sent, by outcome',
    'outcome',
    () => counts.attempts,
  );
  showCounter(
    exposition,
    'carteiro_recorded_attempts_total',
    'Attempts this process has recorded: current, given_up (the same, and the delivery is `erro` now), late (the lease was lost), repeated (already written)',
    'standing',
    () => standings,
  );
  const plain = (name: string, help: string, read: () => number) =>
    showCounter(exposition, name, help, null, () => new Map([['', read()]]));
  plain('carteiro_claims_total', 'Claims of this process that took something', () => counts.claims);
  plain('carteiro_claimed_deliveries_total', 'Deliveries this process has claimed', () => counts.claimed);
  plain(
    'carteiro_send_faults_total',
    'Deliveries that a fault of ours kept from being sent, a missing sealing key say; 0 unless there is one',
    () => counts.faults,
  );
  plain(
    'carteiro_stranded_lanes_total',
    'Lanes that had lost their wake-up; 0 unless there is a bug',
    () => counts.stranded,
  );
}

function showCounter(
  exposition: Registry,
  name: string,
  help: string,
  label: string | null,
  read: () => ReadonlyMap<string, number>,
): void {
  const shown: Counter = new Counter({
    name,
    help,
    labelNames: label === null ? [] : [label],
    registers: [exposition],
    collect() {
      shown.reset();
      for (const [value, count] of read()) shown.inc(label === null ? {} : { [label]: value }, count);
    },
  });
}

export interface ShownHistogram {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly series: () => Iterable<readonly [Readonly<Record<string, string>>, Histogram]>;
}

/** Shows histograms under one name. The library asks a metric for no more than this. */
export function showHistogram(exposition: Registry, { name, help, labels, series }: ShownHistogram): void {
  const get = async () => {
    const values: HistogramSample[] = [];
    for (const [labelled, histogram] of series()) values.push(...histogram.samples(name, labelled));
    return { name, help, type: 'histogram', values };
  };
  exposition.registerMetric({ name, help, type: 'histogram', labelNames: labels, get } as unknown as Metric);
}
