/** Adds the database's measures to a process's metrics. A process without an API, or with METRICS_PORT, gets a port to serve them. */
import { areWritesRefused } from '../../db/refused-writes.ts';
import { POLLER_METRICS_PORT } from '../../config.ts';
import { readWriteFault } from '../../db/write-faults.ts';
import type { Role } from './checks.ts';
import { openPool } from '../service/pools.ts';
import { readiness } from '../service/readiness.ts';
import type { Part, ServiceDeps } from '../service/service.ts';
import { MEASURING_SETTINGS, measuring } from './measuring.ts';
import { openPort } from './port.ts';

const DEADLINE_MS = 4_000;
const STOP_TIMEOUT_S = 1;

/** Shows the database's measures; `url` is where, when the API does not. */
export async function startSeen(deps: ServiceDeps, roles: readonly Role[]): Promise<Part> {
  const { config, database, log, metrics, leaving } = deps;
  const pool = openPool(config, database.url, 'metrics', DEADLINE_MS, MEASURING_SETTINGS);
  metrics.watchPool('metrics', pool);
  metrics.watchReadings(measuring({ pool, log, monotonicMs: () => performance.now() }));
  // An API without METRICS_PORT is seen on its own.
  const port = roles.includes('api') && config.metricsPort === null ? null : await openOwnPort();
  return {
    ...(port !== null && { url: port.url }),
    failed: new Promise<never>(() => undefined),
    async stop() {
      await port?.close();
      await pool.close(STOP_TIMEOUT_S);
    },
  };

  async function openOwnPort() {
    if (!roles.includes('api'))
      metrics.watchDatabase(async () => (await readWriteFault(pool)) === null, areWritesRefused);
    const { host, metricsPort } = config;
    const opened = await openPort({
      host,
      port: metricsPort ?? POLLER_METRICS_PORT,
      metrics,
      ready: readiness(pool, leaving),
    });
    log.info({ url: opened.url }, 'metrics are served');
    return opened;
  }
}
