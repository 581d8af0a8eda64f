/**
 * What Prometheus reads at `/metrics`. Labels are closed vocabularies, route patterns, and names of tables and pools: never a partner, a
 * webhook or another id. The one growing list is bounded: the processes of the last hour, 100 at most. main/operations/README.md lists each
 * name and label.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { REVISION, VERSION } from '../version.ts';
import { readMetrics } from './database-metrics.ts';
import { deliveryMetrics, type Makers, makersIn } from './delivery-metrics.ts';

const CALL_OUTCOMES = ['answered', 'failed', 'not_asked'] as const;

export type Metrics = ReturnType<typeof createMetrics>;

/** Less than Prometheus waits for a scrape (10 s): what the process itself knows must still arrive. */
const READ_TIMEOUT_MS = 3_000;
/**
 * The event loop's lag is measured between two readings. Readings every 10 ms were half of an idle poller's work; every 200 ms, a third of
 * its wake-ups.
 */
const LAG_EVERY_MS = 1_000;

/** The library's gauges that are named like counters; they are sums of others. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function createMetrics(readTimeoutMs = READ_TIMEOUT_MS) {
  const exposition = new Registry();
  collectDefaultMetrics({ register: exposition, eventLoopMonitoringPrecision: LAG_EVERY_MS });
  for (const name of MISNAMED) exposition.removeSingleMetric(name);
  new Gauge({
    name: 'carteiro_build_info',
    help: 'Always 1; its labels are the version of Carteiro, the commit that it was built of, and the version of Node',
    labelNames: ['version', 'revision', 'node'],
    registers: [exposition],
  }).set({ version: VERSION, revision: REVISION, node: process.versions.node }, 1);
  const makers = makersIn(exposition);
  return {
    ...deliveryMetrics(makers),
    ...readMetrics(exposition, readTimeoutMs),
    ...apiMetrics(makers),
    /** Leaves out what cannot be read in time. */
    expose: async () => ({ text: await exposition.metrics(), contentType: exposition.contentType as string }),
    describe: () =>
      (exposition.getMetricsAsArray() as unknown as Described[]).map(({ name, labelNames = [] }) => ({
        name,
        labels: labelNames,
      })),
  };
}

interface Described {
  readonly name: string;
  readonly labelNames?: readonly string[];
}

/** Those of the API, of the projector, and of calls to the registry. */
function apiMetrics({ counter, histogram }: Makers) {
  const requests = histogram(
    'carteiro_http_request_duration_seconds',
    'Requests by method, route pattern and status',
    undefined,
    'method',
    'route',
    'status',
  );
  const dropped = counter(
    'carteiro_http_connections_dropped_total',
    'Connections to the API closed because too many were open, in all or from one address',
    'bound',
    ['total', 'address'],
  );
  const faults = counter(
    'carteiro_projector_faults_total',
    'Events that the projector found not as the catalog has them or could not apply; 0 unless somebody wrote past append_event',
  );
  const calls = counter(
    'carteiro_registry_calls_total',
    'Calls to the employment-data registry: answered, failed, not_asked (no slot was free, or the breaker is open)',
    'outcome',
    CALL_OUTCOMES,
  );
  return {
    observeRequest: (method: string, route: string, status: number, durationS: number) =>
      requests.observe({ method, route, status }, durationS),
    countDroppedConnection: (bound: 'total' | 'address') => dropped.inc({ bound }),
    /** An event unlike the catalog, or a failed piece of the projector's work. */
    countProjectorFault: () => faults.inc(),
    countRegistryCall: (outcome: (typeof CALL_OUTCOMES)[number]) => calls.inc({ outcome }),
  };
}
