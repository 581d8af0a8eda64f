/** Runs API and poller until a signal, then drains. */
import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { type Config, DEFAULT_DATA_DIR } from '../config.ts';
import { outliveLostConnections } from '../db/stray-faults.ts';
import type { Logger } from '../log-lines.ts';
import { createMetrics } from '../metrics.ts';
import { banner } from './banner.ts';
import { migrateDatabase, openDatabase, openPool } from './database.ts';
import { type Fitness, type Role, watchFitness } from './fitness.ts';
import { ensureSandboxPartner } from './partners.ts';
import { startSealer } from './sealing.ts';
import { type Part, startApi, startPoller, whenFit } from './service.ts';

/** Longer than an attempt's deadline, so that a drain ends by itself unless the database is gone. */
const DRAIN_TIMEOUT_MS = 40_000;
/** What still holds the process after this long is a socket whose other end has gone silent. */
const LINGER_MS = 2_000;

/**
 * Serves the roles until SIGTERM or SIGINT, then stops claiming, finishes what is in flight and leaves; a second signal
 * leaves at once. With `greet`, for a newcomer: migrates, makes a sandbox partner and tells how to go on.
 */
export async function runUntilStopped(
  config: Config,
  roles: readonly Role[],
  log: Logger,
  greet: ((text: string) => void) | null,
): Promise<void> {
  outliveLostConnections(log);
  const stopped = stopSignal(log);
  const database = await openDatabase(config, log);
  const parts: Part[] = [];
  let fitness: Fitness | null = null;
  try {
    if (greet !== null && !database.isEmbedded) await migrateDatabase(config, database.directUrl, log);
    fitness = watchFitness(config, database.url, roles, log);
    await fitness.looked;
    const deps = { config, database, log, metrics: createMetrics(), fit: fitness.fit };
    let url: string | null = null;
    if (roles.includes('api')) {
      const api = await startApi(deps);
      parts.push(api);
      ({ url } = api);
      log.info({ url }, 'the API listens');
    }
    if (roles.includes('poller')) {
      parts.push(await startPoller(deps));
      const sayDelivers = async () => log.info({ capacity: config.pollerCapacity }, 'the poller delivers');
      void whenFit(deps.fit, sayDelivers).catch(() => undefined);
    }
    parts.push(startSealer(deps));
    // With NODE_COMPILE_CACHE set: the next start neither strips types nor compiles, which takes 11 MiB. Not at the exit, for
    // which a killed process has no time.
    flushCompileCache();
    if (greet !== null && url !== null) greet(await greeting(config, database.url, url));
    await Promise.race([stopped, ...parts.map((part) => part.failed)]);
  } finally {
    const forced = setTimeout(() => leaveAtOnce(log, 'the drain took too long'), DRAIN_TIMEOUT_MS);
    await Promise.all([fitness?.stop(), ...parts.map((part) => part.stop())]);
    await database.close();
    clearTimeout(forced);
    log.info({}, 'stopped');
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}

async function greeting(config: Config, databaseUrl: string, url: string): Promise<string> {
  if (!config.sandbox) return `Carteiro listens on ${url}`;
  const pool = openPool(config, databaseUrl, 'start', 1, 10_000);
  try {
    const partner = await pool.run(ensureSandboxPartner);
    const dataDir = config.databaseUrl === null ? config.dataDir : null;
    return banner({ url, partnerId: partner.id, dataDir, prefix: commandPrefix(config) });
  } finally {
    await pool.close();
  }
}

/** The token's key lies under the data folder, so the command that makes one must be told of another folder. */
function commandPrefix({ dataDir }: Config): string {
  return dataDir === DEFAULT_DATA_DIR ? '' : `DATA_DIR='${resolve(dataDir).replaceAll("'", String.raw`'\''`)}' `;
}

function stopSignal(log: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals += 1;
    if (signals > 1) leaveAtOnce(log, 'a second signal came');
    log.info({ signal }, 'draining: no new work; once more leaves at once');
    resolve();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return promise;
}

function leaveAtOnce(log: Logger, reason: string): never {
  log.error({ reason }, 'left without draining; leases end by themselves');
  process.exit(1);
}
