/** Where reports are read: on READ_DATABASE_URL, or on the primary. */
import type { Config } from '../../config.ts';
import type { Pool } from '../../db/pool.ts';
import { onPrimary, onStandby, readLagS, type Reading } from '../../db/reports.ts';
import type { Logger } from '../../log-lines.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { openPool } from './pools.ts';

/** As a statement of the API; for a job as a whole month of a large partner. */
const DEADLINE_MS = { reports: 15_000, 'job reports': 10 * 60 * 1_000 } as const;

/** A process with `metrics` serves people; without, it is a job. */
export function openReports(config: Config, primary: Pool, log: Logger, metrics?: Metrics) {
  const { readDatabaseUrl: url, readDatabaseFallback: fallsBack } = config;
  if (url === null) return { reports: onPrimary(primary), close: async () => undefined };
  const name = metrics ? 'reports' : 'job reports';
  const standby = openPool(config, url, name, DEADLINE_MS[name]);
  metrics?.watch('reports_lag_seconds', () => readLagS(primary, standby));
  return { reports: onStandby({ primary, standby, fallsBack, log }), close: () => standby.close() };
}

/** Runs `work` of a command where reports are read. */
export async function withReports<T>(
  config: Config,
  primary: Pool,
  log: Logger,
  work: (reading: Reading) => Promise<T>,
): Promise<T> {
  const opened = openReports(config, primary, log);
  try {
    return await work(await opened.reports());
  } finally {
    await opened.close();
  }
}
