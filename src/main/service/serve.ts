/** Runs API and poller until a signal, then drains. */
import { TIMES_S } from '../../contract/delivery.ts';
import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { type Config, DEFAULT_DATA_DIR } from '../../config.ts';
import type { Logger } from '../../log-lines.ts';
import { createMetrics } from '../../telemetry/metrics.ts';
import { startExporting } from '../../telemetry/exporting.ts';
import { banner } from './banner.ts';
import { migrateDatabase, type OpenDatabase, openDatabase } from './database.ts';
import { openPool } from './pools.ts';
import type { Role } from '../operations/checks.ts';
import { type Fitness, watchFitness, whenFit } from './fitness.ts';
import { whyUnheard } from '../operations/port.ts';
import { startSeen } from '../operations/seen.ts';
import { startMaintenance } from '../maintenance/list.ts';
import { type Part, type ServiceDeps, startApi, startPoller } from './service.ts';
import { Interrupted, showDrain, startStopping, unlessStopped } from './stop-signals.ts';
import { notifySystemd } from '../operations/systemd.ts';

/** Longer than an attempt's deadline, so that a drain ends by itself unless the database is gone. */
export const DRAIN_TIMEOUT_MS = TIMES_S.drain * 1_000;
/** After this long, only a socket whose other end has gone silent can still hold the process. */
const LINGER_MS = 2_000;

/**
 * Serves the roles until a signal (stop-signals.ts), then stops claiming, finishes what is in flight and leaves; a second signal
 * leaves at once. `greet`: migrates, makes a sandbox partner and tells a newcomer how to go on.
 */
export async function runUntilStopped(
  config: Config,
  roles: readonly Role[],
  log: Logger,
  greet: ((text: string) => void) | null,
): Promise<void> {
  const stopping = startStopping(log);
  const leaving = new AbortController();
  const parts: Part[] = [];
  let database: OpenDatabase | null = null;
  let fitness: Fitness | null = null;
  let quiet = (): void => undefined;
  const stopExporting = await startExporting(process.env);
  try {
    const opening = openDatabase(config, log, greet === null ? undefined : stopping.signal);
    stopping.closes(opening);
    database = await opening;
    if (greet !== null && !database.isEmbedded) {
      await unlessStopped(stopping.signal, migrateDatabase(config, database.directUrl, log));
    }
    fitness = watchFitness(config, database.url, roles, log);
    await unlessStopped(stopping.signal, fitness.looked);
    const deps = {
      config,
      database,
      log,
      metrics: createMetrics(),
      fit: fitness.fit,
      leaving: leaving.signal,
      throttle: { rate: () => 1 },
    };
    const url = await startParts(parts, roles, deps);
    quiet = notifySystemd(process.env, log);
    if (greet !== null && url !== null) {
      greet(await unlessStopped(stopping.signal, greeting(config, database.url, url)));
    }
    await unlessStopped(stopping.signal, Promise.race(parts.map((part) => part.failed)));
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  } finally {
    leaving.abort();
    const forced = setTimeout(
      () => stopping.leaveAtOnce('the drain took too long'),
      DRAIN_TIMEOUT_MS + config.drainDelayS * 1_000,
    );
    const drained = showDrain(parts);
    // A poller is seen until it has drained.
    const [seen, ...working] = parts;
    await Promise.all([fitness?.stop(), ...working.map((part) => part.stop())]);
    await seen?.stop();
    await Promise.all([database?.close(), stopExporting?.()]);
    drained();
    quiet();
    clearTimeout(forced);
    log.info({}, 'stopped');
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}

/** Starts what the roles ask for, into `parts`. Returns where the API listens. */
async function startParts(parts: Part[], roles: readonly Role[], deps: ServiceDeps): Promise<string | null> {
  const { config, log } = deps;
  let url: string | null = null;
  // First: a port that is taken ends the command before anything is claimed.
  parts.push(await startSeen(deps, roles), ...(await startMaintenance(deps, roles)));
  if (roles.includes('api')) {
    const api = await startApi(deps).catch((error: NodeJS.ErrnoException) => adviseOnListening(config, error));
    parts.push(api);
    ({ url } = api);
    log.info({ url }, 'the API listens');
  }
  if (roles.includes('poller')) {
    parts.push(await startPoller(deps));
    const sayDelivers = async () => log.info({ capacity: config.pollerCapacity }, 'the poller delivers');
    void whenFit(deps.fit, sayDelivers).catch(() => undefined);
  }
  // With NODE_COMPILE_CACHE set: the next start neither strips types nor compiles, which takes 11 MiB. Not at the exit, for
  // which a killed process has no time.
  flushCompileCache();
  return url;
}

/** Without the system's error as its cause: an unknown HOST would count as a database that is away. */
function adviseOnListening({ port }: Config, error: NodeJS.ErrnoException): never {
  const { code = '', syscall = '' } = error;
  if (!/^(listen|getaddrinfo)$/.test(syscall)) throw error;
  throw new Error(`the API cannot listen on port ${port}: ${whyUnheard(code, 'PORT')}`);
}

async function greeting(config: Config, databaseUrl: string, url: string): Promise<string> {
  if (!config.sandbox) return `Carteiro listens on ${url}`;
  const { ensureSandboxPartner } = await import('../../admin/partners.ts');
  const pool = openPool(config, databaseUrl, 'start', 10_000);
  try {
    const partner = await pool.run(ensureSandboxPartner);
    const dataDir = config.databaseUrl === null ? config.dataDir : null;
    const { loanCore, allowInsecureTargets: takesLoopback } = config;
    return banner({ url, partnerId: partner.id, dataDir, prefix: commandPrefix(config), loanCore, takesLoopback });
  } finally {
    await pool.close();
  }
}

/** The token's key lies under the data folder, so the command that makes one must be told of another folder. */
function commandPrefix({ dataDir }: Config): string {
  return dataDir === DEFAULT_DATA_DIR ? '' : `DATA_DIR='${resolve(dataDir).replaceAll("'", String.raw`'\''`)}' `;
}
