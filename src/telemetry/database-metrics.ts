/** Gauges read at each scrape; one that cannot be read in time has no sample. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { DATABASE_BOUNDS_S } from './delivery-metrics.ts';
import { type ReadingName, type Readings, READINGS } from './readings.ts';

const GAUGES = {
  in_flight: ['carteiro_deliveries_in_flight', 'Deliveries this process has claimed and not yet recorded'],
  reports_lag_seconds: [
    'carteiro_reports_lag_seconds',
    'How far the standby that reports are read on (READ_DATABASE_URL) is behind',
  ],
  registry_breaker_open: [
    'carteiro_registry_breaker_open',
    'Whether the breaker to the employment-data registry is open: 1, or 0',
  ],
  http_connections: ['carteiro_http_connections', 'Connections to the API that are open'],
} as const;

type GaugeName = keyof typeof GAUGES;

export function readMetrics(exposition: Registry, readTimeoutMs: number) {
  const registers = [exposition];
  /** Null leaves the gauge without a sample. */
  const addGauge = ([name, help]: readonly [string, string], read: () => Promise<number | null>): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await read();
        if (value === null) made.remove();
        else made.set(value);
      },
    });
  };
  const waits = new Histogram({
    name: 'carteiro_pool_wait_seconds',
    help: 'How long calls waited for a connection of their pool',
    labelNames: ['pool'],
    buckets: DATABASE_BOUNDS_S,
    registers,
  });
  return {
    watch: (gauge: GaugeName, read: () => number | Promise<number>) =>
      addGauge(GAUGES[gauge], withinTime(read, readTimeoutMs)),
    /**
     * Checks at each scrape whether the database answers and takes writes. `isFull`: the last tried write found no space, which
     * distinguishes a full server from one that is away.
     */
    watchDatabase(ask: () => Promise<boolean>, isFull: () => boolean): void {
      const asked = withinTime(ask, readTimeoutMs);
      const up = 'Whether the database answered this scrape: 1, or 0';
      addGauge(['carteiro_database_up', up], async () => Number((await asked()) !== null));
      const takes =
        'Whether the database takes writes: 1, or 0 (read-only, or its disk is full); absent while it is away for another reason';
      addGauge(['carteiro_database_takes_writes', takes], async () => {
        const isTaking = await asked();
        return isTaking === null && !isFull() ? null : Number(isTaking);
      });
    },
    /** Reads at each scrape, once for all, what only the database knows. */
    watchReadings: (read: () => Promise<Readings>) => addReadings(exposition, withinTime(read, readTimeoutMs)),
    /** Shows how long a pool's calls wait for a connection. */
    watchPool(name: string, pool: { onWait: (seconds: number) => void }): void {
      const shown = waits.labels(name);
      waits.zero({ pool: name });
      pool.onWait = (seconds) => shown.observe(seconds);
    },
  };
}

function addReadings(exposition: Registry, readInTime: () => Promise<Readings | null>): void {
  for (const name of Object.keys(READINGS) as ReadingName[]) {
    const [gauge, help, ...labelNames] = READINGS[name];
    const made: Gauge = new Gauge({
      name: gauge,
      help,
      labelNames,
      registers: [exposition],
      async collect() {
        const readings = await readInTime();
        made.reset();
        // The library would show a gauge without labels as 0 from the start.
        if (labelNames.length === 0) made.remove();
        for (const { labels: labelled = {}, value } of readings?.[name] ?? []) made.set(labelled, value);
      },
    });
  }
}

/** Null for a read that fails or takes too long. A read under way is not started twice. */
function withinTime<T>(read: () => T | Promise<T>, timeoutMs: number): () => Promise<T | null> {
  let reading: Promise<T | null> | null = null;
  const begin = async (): Promise<T | null> => {
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
