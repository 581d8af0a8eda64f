/** The long-running parts: the API (with the loan core's worker) and the poller, alone or together in one process. */
import { TIMES_S } from '../../contract/delivery.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Config } from '../../config.ts';
import { NewestCheckpoint } from '../../audit/checkpoint/newest.ts';
import { Poller } from '../../delivery/poller/poller.ts';
import { SESSION_SETTINGS } from '../../delivery/poller/session.ts';
import { Liveness } from '../../delivery/poller/liveness.ts';
import { createSender } from '../../delivery/sending/send.ts';
import { watchServer } from '../../db/known-server.ts';
import { areWritesRefused } from '../../db/refused-writes.ts';
import { readWriteFault } from '../../db/write-faults.ts';
import type { Logger } from '../../log-lines.ts';
import type { ServerOptions } from '../../http/server.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { openConformance } from './conformance.ts';
import { openEgress } from './egress.ts';
import { ReceiverCertificates } from '../../webhooks/certificates.ts';
import { openCredentials } from '../../webhooks/gateway/credentials.ts';
import { HANDSHAKE_TIMEOUT_MS, handshakeBy } from '../../webhooks/gateway/handshake.ts';
import { createVault } from '../../webhooks/secrets.ts';
import { startHeartbeat } from '../operations/heartbeat.ts';
import { installationOf, type OpenDatabase } from './database.ts';
import { whenFit } from './fitness.ts';
import { openPool } from './pools.ts';
import { openReports } from './reports.ts';
import { keepSettings } from './settings-history.ts';
import { readCheckpointKeys, readSecretsKeys, readWorkers } from './key-files.ts';

export interface ServiceDeps {
  readonly config: Config;
  readonly database: OpenDatabase;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** True when the database is fit, false when the wait was cancelled. */
  readonly fit: Promise<boolean>;
  /** Aborts when the process begins to stop. */
  readonly leaving: AbortSignal;
  readonly throttle: Throttle;
}

/** How often this process does what all share: less than 1 where its poller comes behind others (delivery/poller/liveness.ts). */
export interface Throttle {
  rate: () => number;
}

export interface Part {
  /** Where the API listens; a poller has no address. */
  readonly url?: string;
  /** Settles when the part ends by itself, which it does only by failing. */
  readonly failed: Promise<never>;
  readonly inFlight?: () => number;
  /** Takes no new work, finishes the current work, and releases everything. */
  stop(): Promise<void>;
}

/** A black hole is noticed within it. */
export const POLLER_DEADLINE_MS = TIMES_S.statement * 1_000;
/**
 * A host that is cut off says nothing: the server asks after 5 s, and tcp_user_timeout ends it after 7. With 60 s as elsewhere,
 * such a poller's claims would wait for their leases.
 */
const SIGN_SETTINGS = { tcp_keepalives_idle: '5', tcp_keepalives_interval: '2', tcp_keepalives_count: '3' };
/**
 * Heap growth before V8 marks all of it again. By V8's rule a small heap grows by a third, and at full rate was marked twice a
 * second. With 60 %: 0.36 s of CPU per 10,000 deliveries instead of 0.42, for 8 MiB more. NODE_OPTIONS does not accept the flag.
 */
const HEAP_GROWTH = '--heap-growing-percent=60';
/**
 * V8 marks a heap unmarked for 108 s, to give memory back: 50 ms of CPU. Without it an idle poller behind others takes 0.06 % of a
 * core instead of 0.10, for 14 MiB more. `--no-memory-reducer` would come too late here.
 */
const NO_MARKING_WHILE_IDLE = '--memory-reducer-gc-count=0';
const SMALL_HEAP_BYTES = 512 * 1024 * 1024;

/** Starts a poller; it waits for the database if that is away. */
export async function startPoller({ config, database, log, metrics, fit, throttle }: ServiceDeps): Promise<Part> {
  if (getHeapStatistics().heap_size_limit <= SMALL_HEAP_BYTES) {
    for (const flag of [HEAP_GROWTH, NO_MARKING_WHILE_IDLE]) setFlagsFromString(flag);
  }
  const egress = await openEgress(config, log);
  const vault = createVault(await readSecretsKeys(config));
  const pool = openPool(config, database.url, 'poller', POLLER_DEADLINE_MS, SESSION_SETTINGS);
  const monotonicMs = () => performance.now();
  const { allowInsecureTargets: allowInsecure, keptAnswerBytes: keptBytes } = config;
  const certificates = new ReceiverCertificates(monotonicMs);
  const onSecured = certificates.note.bind(certificates);
  const sender = createSender({ allowInsecure, keptBytes, now: monotonicMs, onSecured, ...egress });
  const heartbeat = await startHeartbeat('poller', { config, log, fit }, pool);
  const { name } = heartbeat.self;
  const session = openPool(config, database.url, 'sign of life', POLLER_DEADLINE_MS, SIGN_SETTINGS);
  const isPooled = !config.databasePrepare;
  const sign = new Liveness({ session, isPooled, pool, log, name, monotonicMs, now: () => null });
  throttle.rate = () => sign.rate();
  const poller = new Poller({
    pool,
    sign,
    sender,
    openSecret: (webhookId, encrypted) => vault.decrypt(webhookId, encrypted),
    openCredentials: (webhookId, encrypted) => openCredentials(vault, webhookId, encrypted),
    log,
    metrics,
    ...(config.checkpointHeader && { checkpoint: new NewestCheckpoint(pool, monotonicMs) }),
    name,
    capacity: config.pollerCapacity,
    monotonicMs,
  });
  metrics.watch('in_flight', () => poller.held);
  metrics.watchPool('poller', pool);
  const living = new AbortController();
  const running = whenFit(fit, async () => {
    await Promise.all([
      poller.run(),
      sign.run(() => poller.held > 0),
      watchServer({ pool, log, rate: throttle.rate }, living.signal),
      certificates.run(pool, log, living.signal),
    ]);
  });
  return {
    failed: failureOf(running),
    inFlight: () => poller.held,
    async stop() {
      await poller.drain();
      sign.stop();
      living.abort();
      await running.catch(() => undefined);
      await Promise.all([sender.close(), heartbeat.stop()]);
      await Promise.all([pool.close(), session.close()]);
    },
  };
}

const API_DEADLINE_MS = 15_000;

/** Starts the API; it answers 503 while the database is away. */
export async function startApi(deps: ServiceDeps): Promise<Part & { url: string }> {
  const { config, database, log, metrics, fit, leaving } = deps;
  const { createApp } = await import('../../http/app.ts');
  const { besidePainel, createPainel } = await import('../../painel/app.ts');
  const { registrationWorker } = await import('../../core/loans/registration-worker.ts');
  const { openKeys, sandboxTokens } = await import('./keys.ts');
  const { askedBy, openRegistry, UNASKED } = await import('./registry.ts');
  const pool = openPool(config, database.url, 'api', API_DEADLINE_MS);
  const { reports, close: closeReports } = openReports(config, pool, log, metrics);
  const workerPool = openPool(config, database.url, 'worker', API_DEADLINE_MS);
  const keys = await openKeys(config, log);
  const { documentsDeadlineDays, marginReuseHours: reuseHours, publicUrl } = config;
  const asking = await openHandshake(config, log);
  const vault = createVault(await readSecretsKeys(config));
  const opened = await openRegistry(config, workerPool, log, metrics);
  if (opened === null) log.warn({}, `no registry is configured (REGISTRY_URL): ${UNASKED[config.loanCore]}`);
  else log.info({ registry: opened.where }, 'the registry is asked');
  const httpDeps = {
    pool,
    reports,
    vault,
    conformance: await openConformance(config, pool, vault, log),
    cursors: (await import('../../http/cursor.ts')).createCursors(pool),
    ...askedBy({ pool, log, reuseHours }, opened),
    log,
    metrics,
    showsMetrics: config.metricsPort === null,
    tokens: { keys: keys.source, issuer: config.jwtIssuer, audience: config.jwtAudience },
    sandbox: config.sandbox ? (await import('../../http/routes/sandbox.ts')).sandboxRoutes : null,
    loanCore: config.loanCore,
    documentsDeadlineDays,
    egressAddresses: config.egressIps,
    handshake: asking?.handshake ?? null,
    sendsMail: config.smtpUrl !== null,
    allowInsecure: config.allowInsecureTargets,
    rateLimitPerMinute: config.rateLimitPerMinute,
    ready: (await import('./readiness.ts')).readiness(pool, leaving),
    archives: await (await import('./archives.ts')).archiveReads(config, pool, workerPool),
    checkpointKeys: (await readCheckpointKeys(config)).verifiers,
    sendsCheckpoint: config.checkpointHeader,
    installation: installationOf(config),
    workers: await readWorkers(config),
  };
  const api = createApp(httpDeps).fetch;
  const painel = createPainel({ ...httpDeps, api, publicUrl, sandboxToken: sandboxTokens(config, pool, keys.own) });
  metrics.watchPool('api', pool);
  metrics.watchPool('worker', workerPool);
  metrics.watchDatabase(async () => (await readWriteFault(pool)) === null, areWritesRefused);
  const ending = new AbortController();
  const worker = opened && registrationWorker({ ...opened, pool: workerPool, log, documentsDeadlineDays });
  const server = await listen(config, metrics, besidePainel(api, painel));
  const working = whenFit(fit, async () => {
    await Promise.all([keepSettings({ pool, log }, config, ending.signal), worker?.run(ending.signal)]);
  });
  const heartbeat = await startHeartbeat('api', deps, pool);
  return {
    url: server.url,
    failed: failureOf(working),
    async stop() {
      server.sendAway();
      await sleep(config.drainDelayS * 1_000);
      ending.abort();
      painel.close();
      await Promise.all([server.close(), working.catch(() => undefined), httpDeps.conformance.close()]);
      keys.close();
      await Promise.all([heartbeat.stop(), opened?.close(), asking?.sender.close()]);
      await Promise.all([pool.close(), closeReports(), workerPool.close()]);
    },
  };
}

/** Null where no handshake is demanded. */
async function openHandshake(config: Config, log: Logger) {
  const { webhookHandshake, publicUrl, allowInsecureTargets: allowInsecure } = config;
  if (!webhookHandshake || publicUrl === null) return null;
  const sender = createSender({ allowInsecure, timeoutMs: HANDSHAKE_TIMEOUT_MS, ...(await openEgress(config, log)) });
  return { sender, handshake: handshakeBy(sender, publicUrl.hostname) };
}

async function listen(config: Config, metrics: Metrics, fetch: ServerOptions['fetch']) {
  const { forOwnHosts } = await import('../../http/auth/hosts.ts');
  const { startServer } = await import('../../http/server.ts');
  const { host, port, maxConnections: total, maxConnectionsPerAddress: perAddress, trustedProxies: proxies } = config;
  const server = await startServer({
    fetch: forOwnHosts(fetch, config.sandbox, config.publicUrl),
    host,
    port,
    bounds: { total, perAddress, proxies },
    onDrop: (bound) => metrics.countDroppedConnection(bound),
  });
  metrics.watch('http_connections', () => server.connections());
  return server;
}

/** Turns "ran until it was told to stop" into "never", so that only a failure settles, whenever it comes. */
export function failureOf(running: Promise<void>): Promise<never> {
  const failed = running.then(() => new Promise<never>(() => undefined));
  failed.catch(() => undefined);
  return failed;
}
