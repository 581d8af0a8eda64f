/** A poller's metrics. Labels are the closed vocabularies of outcomes and standings. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { FAILING_CHANGES, type FailingChange, type Outcome, OUTCOMES } from '../contract/statuses.ts';

export type DeliveryMetrics = ReturnType<typeof deliveryMetrics>;

const STANDINGS = ['current', 'given_up', 'late', 'repeated'] as const;
type ReportStanding = (typeof STANDINGS)[number];

/** In seconds: from one round trip to the database to an attempt's deadline. */
const ATTEMPT_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** In seconds: from the fastest way to a partner to a queue that stood for an hour. */
const FIRST_ATTEMPT_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 3_600];
/** In seconds: the wait for a connection, or one statement. */
export const DATABASE_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function deliveryMetrics({ counter, histogram }: Makers) {
  const attempts = counter(
    'carteiro_delivery_attempts_total',
    'Attempts this process has sent, by outcome',
    'outcome',
    OUTCOMES,
  );
  const recorded = counter(
    'carteiro_recorded_attempts_total',
    'Attempts this process has recorded: current, given_up (the same, and the delivery is `erro` now), late (the lease was lost), repeated (already written)',
    'standing',
    STANDINGS,
  );
  const claims = counter('carteiro_claims_total', 'Claims of this process that took something');
  const claimed = counter('carteiro_claimed_deliveries_total', 'Deliveries this process has claimed');
  const faults = counter(
    'carteiro_send_faults_total',
    'Deliveries that a fault of ours kept from being sent, a missing sealing key say; 0 unless there is one',
  );
  const unreadable = counter('carteiro_unreadable_deliveries_total', 'Deliveries whose event nobody can read');
  const orphaned = counter(
    'carteiro_stray_rows_total',
    'Rows of the queue without a pending delivery; 0 without a bug',
  );
  const failing = counter(
    'carteiro_failing_changes_total',
    'Webhooks that this process has changed by the policy for failing endpoints: falhando, fim_da_falha, suspensao',
    'change',
    FAILING_CHANGES,
  );
  const durations = histogram(
    'carteiro_delivery_attempt_duration_seconds',
    'How long attempts took that this process has sent, by outcome',
    ATTEMPT_BOUNDS_S,
    'outcome',
  );
  for (const outcome of OUTCOMES) durations.zero({ outcome });
  const firsts = histogram(
    'carteiro_delivery_first_attempt_seconds',
    'From the append of a delivery to the start of its first attempt',
    FIRST_ATTEMPT_BOUNDS_S,
  );
  const flushes = histogram(
    'carteiro_record_duration_seconds',
    'How long it took to record attempts, many in one transaction',
    DATABASE_BOUNDS_S,
  );
  return {
    countAttempt(outcome: Outcome, durationMs: number): void {
      attempts.inc({ outcome });
      durations.observe({ outcome }, durationMs / 1_000);
    },
    /** From the append of a delivery to the start of its first attempt. */
    observeFirstAttempt: (seconds: number) => firsts.observe(seconds),
    countClaim(deliveries: number): void {
      claims.inc();
      claimed.inc(deliveries);
    },
    /** How each report was taken, and how long the flush took. */
    countRecord(taken: readonly ReportStanding[], durationMs: number): void {
      for (const standing of STANDINGS) recorded.inc({ standing }, taken.filter((each) => each === standing).length);
      flushes.observe(durationMs / 1_000);
    },
    countSendFault: () => faults.inc(),
    countUnreadable: () => unreadable.inc(),
    countOrphaned: (rows: number) => orphaned.inc(rows),
    countFailing: (change: FailingChange) => failing.inc({ change }),
  };
}

export type Makers = ReturnType<typeof makersIn>;

/** Each value of a label is shown as 0 from the start. */
export function makersIn(exposition: Registry) {
  const registers = [exposition];
  return {
    counter: (name: string, help: string, label?: string, values: readonly string[] = []) => {
      const made = new Counter({ name, help, labelNames: label === undefined ? [] : [label], registers });
      for (const value of values) made.labels(value).inc(0);
      return made;
    },
    histogram: (name: string, help: string, buckets?: number[], ...labelNames: string[]) =>
      new Histogram({ name, help, labelNames, registers, ...(buckets && { buckets }) }),
  };
}
