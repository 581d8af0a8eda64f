/**
 * The embedded PostgreSQL under DATA_DIR, shared by every process that was given this folder.
 *
 * Invariant: each process that holds `postgres.presence` (a shared lock) has a server. Processes join and leave one at a
 * time, behind `postgres.door` (an exclusive lock), and the last to leave stops the server. Both are locks of the kernel, so
 * a killed process loses them at once. The next process uses the server that was left behind; the last one stops it.
 * We do not count sessions in pg_stat_activity instead: they are lost when the server crashes, and a process that leaves
 * then would count nobody and stop the server that others still use.
 */
import { access, constants, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from '../../log-lines.ts';
import { clusterUrl, openCluster, type Cluster } from './embedded-cluster.ts';
import type { Address } from './embedded-address.ts';
import { ensureRunning, stopServer } from './embedded-server.ts';
import { lockExclusive, tryLock } from './file-lock.ts';
import { Pool } from '../pool.ts';

const DOOR_TIMEOUT_MS = 90_000;
const DATABASE = 'carteiro';
const DUPLICATE_DATABASE = '42P04';

export interface Embedded {
  readonly url: string;
  /** Leaves the server; the last one out stops it. Calling it again does nothing. */
  readonly leave: () => Promise<void>;
}

export interface EmbeddedOptions {
  /** Settings of postgresql.conf for a cluster that is made now. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How the last one out stops the server. */
  readonly stop?: 'fast' | 'immediate';
  /** Gives up a start that is under way; the call throws its reason. */
  readonly stopping?: AbortSignal | undefined;
}

function doorOf(home: string): string {
  return join(home, 'postgres.door');
}

function presenceOf(home: string): string {
  return join(home, 'postgres.presence');
}

/**
 * Joins the server of `dataDir`, making and starting it when need be. The URL is that of the database `carteiro`. A start
 * that fails leaves no server that nobody uses.
 */
export async function startEmbedded(dataDir: string, log: Logger, options: EmbeddedOptions = {}): Promise<Embedded> {
  const { settings, stop = 'fast', stopping } = options;
  const home = resolve(dataDir);
  await makeHome(home);
  const closeDoor = await lockExclusive(doorOf(home), DOOR_TIMEOUT_MS, stopping);
  try {
    const cluster = await openCluster(home, settings, stopping);
    const address = await startOrNothing(home, cluster, log, stopping);
    const release = tryLock(presenceOf(home), 'shared');
    if (!release) throw new Error(`${presenceOf(home)} is locked by a stranger`);
    log.info({ port: address.port, folder: cluster.folder }, 'embedded PostgreSQL joined');
    let left: Promise<void> | undefined;
    const leave = (): Promise<void> => (left ??= leaveServer(home, cluster, release, log, stop));
    return { url: clusterUrl(cluster, address, DATABASE), leave };
  } finally {
    closeDoor();
  }
}

async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true });
    await access(home, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`DATA_DIR: ${home} must be a folder that we may write to`, { cause: error });
  }
}

async function startOrNothing(
  home: string,
  cluster: Cluster,
  log: Logger,
  stopping: AbortSignal | undefined,
): Promise<Address> {
  try {
    const address = await ensureRunning(cluster, stopping);
    await createDatabase(clusterUrl(cluster, address, 'postgres'));
    return address;
  } catch (error) {
    const nobodyInHere = tryLock(presenceOf(home), 'exclusive');
    if (nobodyInHere) {
      await stopServer(cluster, 'fast').catch((err: unknown) =>
        log.error({ err }, 'embedded PostgreSQL may still run'),
      );
      nobodyInHere();
    }
    throw error;
  }
}

async function createDatabase(url: string): Promise<void> {
  const pool = new Pool({ url, name: 'carteiro start', max: 1, deadlineMs: 10_000 });
  try {
    await pool.run(async (sql) => {
      const known = await sql`select 1 from pg_database where datname = ${DATABASE}`;
      if (known.length === 0) await sql`create database ${sql(DATABASE)}`;
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== DUPLICATE_DATABASE) throw error;
  } finally {
    await pool.close(1);
  }
}

async function leaveServer(
  home: string,
  cluster: Cluster,
  release: () => void,
  log: Logger,
  mode: 'fast' | 'immediate',
): Promise<void> {
  const closeDoor = await lockExclusive(doorOf(home), DOOR_TIMEOUT_MS);
  try {
    release();
    const aloneInHere = tryLock(presenceOf(home), 'exclusive');
    if (!aloneInHere) return;
    try {
      await stopServer(cluster, mode);
      log.info({ folder: cluster.folder }, 'embedded PostgreSQL stopped');
    } finally {
      aloneInHere();
    }
  } finally {
    closeDoor();
  }
}
