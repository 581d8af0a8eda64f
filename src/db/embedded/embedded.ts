/**
 * The embedded PostgreSQL under DATA_DIR: `start` owns it, and every other command asks where it answers.
 *
 * Invariant: one living process owns a folder, by a lock of the kernel, and only the owner makes, starts and stops the server.
 * Crash: a killed owner loses the lock at once, and its server goes on; the next owner uses that one.
 */
import { access, constants, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from '../../log-lines.ts';
import { clusterUrl, findCluster, openCluster, type Cluster } from './embedded-cluster.ts';
import { ensureRunning, findAddress, stopServer } from './embedded-server.ts';
import { tryLock } from './file-lock.ts';
import { Pool } from '../pool.ts';

const DATABASE = 'carteiro';

export interface Embedded {
  readonly url: string;
  readonly leave: () => Promise<void>;
}

export interface EmbeddedOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly stop?: 'fast' | 'immediate';
  readonly stopping?: AbortSignal | undefined;
}

/**
 * Starts the server of `dataDir`, creating it when needed. The URL is that of the database `carteiro`. A failed start leaves no server.
 * Throws where another process owns the folder.
 */
export async function startEmbedded(dataDir: string, log: Logger, options: EmbeddedOptions = {}): Promise<Embedded> {
  const { settings, stop = 'fast', stopping } = options;
  const home = resolve(dataDir);
  await makeHome(home);
  const release = tryLock(join(home, 'postgres.owner'));
  if (!release) throw new Error(`DATA_DIR: another start runs on ${home}; stop it, or give this one another folder`);
  let cluster: Cluster | undefined;
  const end = async (mode: 'fast' | 'immediate') => {
    if (cluster) await stopServer(cluster, mode).finally(release);
    else release();
  };
  try {
    stopping?.throwIfAborted();
    cluster = await openCluster(home, settings, stopping);
    const address = await ensureRunning(cluster, stopping);
    await createDatabase(clusterUrl(cluster, address, 'postgres'));
    log.info({ port: address.port, folder: cluster.folder }, 'embedded PostgreSQL started');
    let left: Promise<void> | undefined;
    return { url: clusterUrl(cluster, address, DATABASE), leave: () => (left ??= end(stop)) };
  } catch (error) {
    await end('fast').catch((err: unknown) => log.error({ err }, 'embedded PostgreSQL may still run'));
    throw error;
  }
}

/** The URL of the running server; null when none runs. */
export async function findEmbedded(dataDir: string): Promise<string | null> {
  const cluster = await findCluster(resolve(dataDir));
  const address = cluster && (await findAddress(cluster));
  return address ? clusterUrl(cluster, address, DATABASE) : null;
}

async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true });
    await access(home, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`DATA_DIR: ${home} must be a folder that we may write to`, { cause: error });
  }
}

async function createDatabase(url: string): Promise<void> {
  const pool = new Pool({ url, name: 'carteiro start', max: 1, deadlineMs: 10_000 });
  try {
    await pool.run(async (sql) => {
      const known = await sql`select 1 from pg_database where datname = ${DATABASE}`;
      if (known.length === 0) await sql`create database ${sql(DATABASE)}`;
    });
  } finally {
    await pool.close(1);
  }
}
