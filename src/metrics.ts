/** What Prometheus reads at `/metrics`: labels are closed vocabularies and route patterns, never an id. */
import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Outcome } from './contract/statuses.ts';

export interface Metrics {
  observeRequest(method: string, route: string, status: number, durationS: number): void;
  countAttempt(outcome: Outcome): void;
  /** Lanes that the sweep found stranded; expected to stay at 0. */
  countStranded(lanes: number): void;
  /** A connection that was closed because there were too many: in all, or from one address. */
  countDroppedConnection(bound: 'total' | 'address'): void;
  /** Reads a gauge at each scrape, and shows it without a sample when it can't be read in time. */
  watch(gauge: GaugeName, read: () => number | Promise<number>): void;
  /** Asks at each scrape whether the database answers. */
  watchDatabase(ask: () => Promise<unknown>): void;
  /** The exposition and its content type; what cannot be read in time is left out of it. */
  expose(): Promise<{ readonly text: string; readonly contentType: string }>;
}

const GAUGES = {
  in_flight: ['carteiro_deliveries_in_flight', 'Deliveries this process has claimed and not yet recorded'],
  oldest_due_seconds: [
    'carteiro_oldest_due_lane_seconds',
    'How long the webhook that waits longest for a poller has had something due; grows when no poller lives',
  ],
  projector_lag_seconds: [
    'carteiro_projector_lag_seconds',
    'How long the oldest event that the projector has not seen has been in the log',
  ],
  http_connections: ['carteiro_http_connections', 'Connections to the API that are open'],
} as const;

type GaugeName = keyof typeof GAUGES;

/** Less than Prometheus waits for a scrape (10 s): what the process itself knows must still arrive. */
const READ_TIMEOUT_MS = 3_000;

/** Makes the registry of one process. */
export function createMetrics(readTimeoutMs = READ_TIMEOUT_MS): Metrics {
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
  const dropped = new Counter({
    name: 'carteiro_http_connections_dropped_total',
    help: 'Connections to the API closed because too many were open, in all or from one address',
    labelNames: ['bound'],
    registers,
  });
  const addGauge = (
    [name, help]: readonly [string, string],
    read: () => number | Promise<number>,
    unread: number | null,
  ): void => {
    const readInTime = withinTime(read, readTimeoutMs);
    const made: Gauge = new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = (await readInTime()) ?? unread;
        if (value === null) made.remove();
        else made.set(value);
      },
    });
  };
  return {
    observeRequest: (method, route, status, durationS) => requests.observe({ method, route, status }, durationS),
    countAttempt: (outcome) => void attempts.set(outcome, (attempts.get(outcome) ?? 0) + 1),
    countStranded: (lanes) => stranded.inc(lanes),
    countDroppedConnection: (bound) => dropped.inc({ bound }),
    watch: (gauge, read) => addGauge(GAUGES[gauge], read, null),
    watchDatabase(ask) {
      const help = 'Whether the database answered this scrape: 1, or 0';
      addGauge(['carteiro_database_up', help], () => ask().then(() => 1), 0);
    },
    expose: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  };
}

/** Null for what fails or takes too long. One that is still under way is waited for again and not asked for twice. */
function withinTime(read: () => number | Promise<number>, timeoutMs: number): () => Promise<number | null> {
  let reading: Promise<number | null> | null = null;
  const begin = async (): Promise<number | null> => {
    try {
      return await read();
    } catch {
      return null;
    } finally {
      reading = null;
    }
  };
  return () => {
    reading ??= begin();
    return Promise.race([reading, sleep(timeoutMs, null, { ref: false })]);
  };
}
