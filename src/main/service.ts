/** The long-running parts: the API (with the loan core's worker) and the poller, alone or together in one process. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Config } from '../config.ts';
import { Poller } from '../delivery/poller.ts';
import { SESSION_SETTINGS } from '../delivery/session.ts';
import { createSender } from '../delivery/send.ts';
import type { Logger } from '../log-lines.ts';
import type { Metrics } from '../metrics.ts';
import { createVault } from '../webhooks/secrets.ts';
import { type OpenDatabase, openPool } from './database.ts';
import { readSecretsKeys } from './secrets-keys.ts';

export interface ServiceDeps {
  readonly config: Config;
  readonly database: OpenDatabase;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** True when the database is fit to work on, false when nobody waits for that any more. */
  readonly fit: Promise<boolean>;
}

export interface Part {
  /** Where the API listens; a poller has no address. */
  readonly url?: string;
  /** Settles when the part ends by itself, which it does only by failing. */
  readonly failed: Promise<never>;
  /** Deliveries in flight. */
  readonly inFlight?: () => number;
  /** Takes no new work, ends what is under way, and leaves nothing behind. */
  stop(): Promise<void>;
}

/** The poller's own pool: a black hole is noticed within its deadline. */
const POLLER_CONNECTIONS = 4;
const POLLER_DEADLINE_MS = 4_000;
/**
 * So much may a heap grow before all of it is marked again. What is in flight outlives the young generation, and a small
 * heap V8 lets grow by a third: at full rate it marked it twice a second. With this its helpers take 0.36 s of CPU per
 * 10,000 deliveries, not 0.42, for 8 MiB. It cannot be given in NODE_OPTIONS; a larger heap may grow more by V8's own rule.
 */
const HEAP_GROWTH = '--heap-growing-percent=60';
const SMALL_HEAP_BYTES = 512 * 1024 * 1024;

/** Starts a poller; it waits for the database if that is away. */
export async function startPoller({ config, database, log, metrics, fit }: ServiceDeps): Promise<Part> {
  if (getHeapStatistics().heap_size_limit <= SMALL_HEAP_BYTES) setFlagsFromString(HEAP_GROWTH);
  const vault = createVault(await readSecretsKeys(config));
  const pool = openPool(config, database.url, 'poller', POLLER_CONNECTIONS, POLLER_DEADLINE_MS, SESSION_SETTINGS);
  const monotonicMs = () => performance.now();
  const sender = createSender({ allowInsecure: config.allowInsecureTargets, now: monotonicMs });
  const poller = new Poller({
    pool,
    sender,
    openSecret: (webhookId, sealed) => vault.open(webhookId, sealed),
    log,
    metrics,
    name: `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`,
    capacity: config.pollerCapacity,
    monotonicMs,
  });
  metrics.watch('in_flight', () => poller.held);
  const running = whenFit(fit, () => poller.run());
  return {
    failed: failureOf(running),
    inFlight: () => poller.held,
    async stop() {
      await poller.drain();
      await running.catch(() => undefined);
      await sender.close();
      await pool.close();
    },
  };
}

const API_CONNECTIONS = 16;
const API_DEADLINE_MS = 15_000;
const WORKER_CONNECTIONS = 4;

/** Starts the API; it answers 503 while the database is away. */
export async function startApi({ config, database, log, metrics, fit }: ServiceDeps): Promise<Part & { url: string }> {
  const { createApp } = await import('../http/app.ts');
  const { createCursors } = await import('../http/cursor.ts');
  const { startServer } = await import('../http/server.ts');
  const { registrationWorker } = await import('../core/registration-worker.ts');
  const { simulatedRegistry } = await import('../registry/simulated.ts');
  const { marginQueries } = await import('../core/margin.ts');
  const { openKeys } = await import('./keys.ts');
  const { readiness } = await import('./readiness.ts');
  const { Queries } = await import('../db/queries.ts');
  const { readOldestDueS } = await import('../delivery/lanes.ts');

  const pool = openPool(config, database.url, 'api', API_CONNECTIONS, API_DEADLINE_MS);
  const workerPool = openPool(config, database.url, 'worker', WORKER_CONNECTIONS, API_DEADLINE_MS);
  const queries = new Queries(openPool(config, database.url, 'reads', API_CONNECTIONS, API_DEADLINE_MS));
  const keys = await openKeys(config, log);
  const registry = simulatedRegistry(workerPool);
  const app = createApp({
    pool,
    queries,
    vault: createVault(await readSecretsKeys(config)),
    cursors: createCursors(pool),
    margins: marginQueries({ pool, registry, log, reuseHours: config.marginReuseHours }),
    log,
    metrics,
    tokens: { keys: keys.source, issuer: config.jwtIssuer, audience: config.jwtAudience },
    sandbox: config.sandbox,
    allowInsecure: config.allowInsecureTargets,
    rateLimitPerMinute: config.rateLimitPerMinute,
    ready: readiness(pool),
  });
  metrics.watch('oldest_due_seconds', () => pool.run(readOldestDueS));
  metrics.watchDatabase(() => pool.run((sql) => sql`select 1`));
  const stopping = new AbortController();
  const worker = registrationWorker({
    pool: workerPool,
    registry,
    log,
    documentsDeadlineDays: config.documentsDeadlineDays,
  });
  const server = await startServer({
    fetch: app.fetch,
    host: config.host,
    port: config.port,
    bounds: {
      total: config.maxConnections,
      perAddress: config.maxConnectionsPerAddress,
      proxies: config.trustedProxies,
    },
    onDrop: (bound) => metrics.countDroppedConnection(bound),
  });
  metrics.watch('http_connections', () => server.connections());
  const working = whenFit(fit, () => worker.run(stopping.signal));
  return {
    url: server.url,
    failed: failureOf(working),
    async stop() {
      stopping.abort();
      await Promise.all([server.close(), working.catch(() => undefined)]);
      keys.close();
      await Promise.all([pool.close(), queries.close(), workerPool.close()]);
    },
  };
}

/** Runs `work` once the database is fit. */
export async function whenFit(fit: Promise<boolean>, work: () => Promise<void>): Promise<void> {
  if (await fit) await work();
}

/**
 * Turns "ran until it was told to stop" into "never", so that only a failure settles. It may come before anybody waits for
 * it.
 */
export function failureOf(running: Promise<void>): Promise<never> {
  const failed = running.then(() => new Promise<never>(() => undefined));
  failed.catch(() => undefined);
  return failed;
}
