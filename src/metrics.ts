/** What Prometheus reads at `/metrics`: labels are closed vocabularies and route patterns, never an id. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Outcome } from './contract/statuses.ts';

export interface Metrics {
  observeRequest(method: string, route: string, status: number, durationS: number): void;
  countAttempt(outcome: Outcome): void;
  /** Lanes that the sweep found stranded; expected to stay at 0. */
  countStranded(lanes: number): void;
  /** Reads a gauge at each scrape. */
  watch(gauge: 'in_flight' | 'oldest_due_seconds', read: () => number | Promise<number>): void;
  /** The exposition and its content type. */
  expose(): Promise<{ readonly text: string; readonly contentType: string }>;
}

const GAUGES = {
  in_flight: ['carteiro_deliveries_in_flight', 'Deliveries this process has claimed and not yet recorded'],
  oldest_due_seconds: [
    'carteiro_oldest_due_lane_seconds',
    'How long the webhook that waits longest for a poller has had something due; grows when no poller lives',
  ],
} as const;

/** Makes the registry of one process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'carteiro_http_request_duration_seconds',
    help: 'Requests by method, route pattern and status',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  // Counted apart: the library builds a name of the labels each time, thousands of times a second.
  const attempts = new Map<Outcome, number>();
  const shown: Counter = new Counter({
    name: 'carteiro_delivery_attempts_total',
    help: 'Attempts this process has sent, by outcome',
    labelNames: ['outcome'],
    registers,
    collect() {
      shown.reset();
      for (const [outcome, count] of attempts) shown.inc({ outcome }, count);
    },
  });
  const stranded = new Counter({
    name: 'carteiro_stranded_lanes_total',
    help: 'Lanes that had lost their wake-up; 0 unless there is a bug',
    registers,
  });
  return {
    observeRequest: (method, route, status, durationS) => requests.observe({ method, route, status }, durationS),
    countAttempt: (outcome) => void attempts.set(outcome, (attempts.get(outcome) ?? 0) + 1),
    countStranded: (lanes) => stranded.inc(lanes),
    watch(gauge, read) {
      const [name, help] = GAUGES[gauge];
      const made: Gauge = new Gauge({ name, help, registers, collect: async () => made.set(await read()) });
    },
    expose: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  };
}
