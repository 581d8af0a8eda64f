/**
 * The server of a cluster, started and stopped by its owner (embedded.ts holds a lock). It runs in its own session: Ctrl-C ends us, and we
 * stop PostgreSQL. A start that fails or is given up leaves no server.
 * Crash: after `kill -9` postmaster.pid stays, its number may belong to any process by now, and PostgreSQL refuses to start. So the file is
 * removed when that process does not live in the cluster's folder. A starting server creates the file empty and writes its number a moment
 * later, and shuts down if the file is removed. So an empty file is removed only when it is old.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { constants, type FileHandle, open, readFile, readlink, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Address, choosePort, findLoopback, hostOf } from './embedded-address.ts';
import { type Cluster, clusterUrl } from './embedded-cluster.ts';
import { adviceOn, startProgram } from './embedded-programs.ts';
import { Pool } from '../pool.ts';

const START_TIMEOUT_MS = 60_000;
const START_ATTEMPTS = 8;
/** After this a stop becomes a crash. */
const STOP_TIMEOUT_MS = 60_000;
const CRASH_TIMEOUT_MS = 10_000;
/** An empty postmaster.pid of this age belongs to no starting server. */
const EMPTY_FOR_MS = 10_000;
const POLL_MS = 50;
/** How long a server may take to say why it does not answer. */
const REFUSAL_MS = 5_000;
const TOLD_LINES = 12;

interface Server {
  readonly pid: number;
  /** Port 0 while unknown. */
  readonly address: Address;
  readonly isReady: boolean;
}

/** Uses the running server or starts one. Returns its address. */
export async function ensureRunning(cluster: Cluster, stopping?: AbortSignal): Promise<Address> {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  const failures: Error[] = [];
  let refusal: Error | undefined;
  while (performance.now() < giveUpAt && failures.length < START_ATTEMPTS) {
    stopping?.throwIfAborted();
    const server = await findServer(cluster);
    if (server) {
      refusal = await refusalOf(cluster, server.address);
      if (!refusal) return server.address;
    } else {
      await startServer(cluster, giveUpAt, stopping).catch((error: Error) => failures.push(error));
    }
    // It is starting or stopping, or processes of a killed one are still exiting.
    if (server || failures.length > 0) await sleep(2 * POLL_MS);
  }
  stopping?.throwIfAborted();
  throw new Error(`PostgreSQL in ${cluster.folder} does not start`, { cause: failures.at(-1) ?? refusal });
}

/** `fast` ends the sessions and writes everything; `immediate` is a deliberate crash. A slow `fast` becomes `immediate`. */
export async function stopServer(cluster: Cluster, mode: 'fast' | 'immediate'): Promise<void> {
  const server = await findServer(cluster);
  if (!server) return;
  if (mode === 'fast' && (await endsBy(cluster, server.pid, 'SIGINT', STOP_TIMEOUT_MS))) return;
  if (await endsBy(cluster, server.pid, 'SIGQUIT', CRASH_TIMEOUT_MS)) return;
  throw new Error(`PostgreSQL in ${cluster.folder} does not stop: end its process ${server.pid}`);
}

async function endsBy(cluster: Cluster, pid: number, signal: NodeJS.Signals, timeoutMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs;
  while (await livesIn(pid, cluster.data)) {
    // A starting server ignores signals until it has written its pid, so the signal is repeated.
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It ended between the look and the signal.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    if (performance.now() > giveUpAt) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** The server's address; undefined when none runs or it is still starting. For processes that do not own it. */
export async function findAddress(cluster: Cluster): Promise<Address | undefined> {
  const server = await findServer(cluster, false);
  return server?.isReady ? server.address : undefined;
}

/** The cluster's living server. The owner removes a dead one's file. */
async function findServer(cluster: Cluster, isOwner = true): Promise<Server | undefined> {
  const pidFile = join(cluster.data, 'postmaster.pid');
  const written = await readFile(pidFile, 'utf8').catch(() => undefined);
  if (written === undefined) return undefined;
  const [first = '', , , port = '', , listens = '', , status = ''] = written.split('\n');
  const pid = Number(first);
  if (await livesIn(pid, cluster.data)) {
    return { pid, address: { host: hostOf(listens), port: Number(port) }, isReady: status.trim() === 'ready' };
  }
  if (isOwner && (pid > 0 ? isTaken(pid) : await isOld(pidFile))) await rm(pidFile, { force: true });
  return undefined;
}

/** True for a PostgreSQL server whose working directory is this folder. */
async function livesIn(pid: number, data: string): Promise<boolean> {
  if (!(pid > 0)) return false;
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
      stdout: '',
    }));
    return stdout.includes(data);
  }
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return folder !== undefined && folder === (await realpath(data));
}

async function isOld(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > EMPTY_FOR_MS;
}

function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

/** Why it does not answer; undefined when it does. */
async function refusalOf(cluster: Cluster, address: Address): Promise<Error | undefined> {
  if (!(address.port > 0)) return new Error('it has not said where it listens');
  const url = clusterUrl(cluster, address, 'postgres');
  const pool = new Pool({ url, name: 'carteiro start', max: 1, deadlineMs: REFUSAL_MS });
  try {
    await pool.run((sql) => sql`select 1`);
    return undefined;
  } catch (error) {
    return error as Error;
  } finally {
    await pool.close(1);
  }
}

async function startServer(cluster: Cluster, giveUpAt: number, stopping: AbortSignal | undefined): Promise<void> {
  const listens = await findLoopback();
  const port = await choosePort(cluster.folder, listens);
  // No symbolic link is followed: as root we would write wherever the cluster's owner likes.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const log = await open(join(cluster.folder, 'server.log'), flags, 0o600);
  try {
    const { size } = await log.stat();
    const args = ['-D', cluster.data, '-p', String(port), '-c', `listen_addresses=${listens}`];
    const child = await startProgram('postgres', args, cluster.owner, log.fd);
    const failure = await untilReady(cluster, child, giveUpAt, stopping);
    if (failure === null) return;
    stopping?.throwIfAborted();
    const told = await linesFrom(log, size);
    throw new Error(`${failure}${adviceOn(told, cluster.owner)}${told === '' ? '' : `:\n${told}`}`);
  } finally {
    await log.close();
  }
}

/** Null when ready; otherwise its failure, and the server is gone. */
async function untilReady(
  cluster: Cluster,
  child: ChildProcess,
  giveUpAt: number,
  stopping: AbortSignal | undefined,
): Promise<string | null> {
  const ends: string[] = [];
  child.once('error', (error) => ends.push(error.message));
  child.once('exit', (code, signal) => ends.push(`postgres ended with ${signal ?? code}`));
  while (ends.length === 0) {
    const server = await findServer(cluster);
    if (server?.isReady && server.pid === child.pid) {
      // From here on this process may end before the server does.
      child.unref();
      return null;
    }
    if (stopping?.aborted || performance.now() > giveUpAt) {
      child.kill('SIGQUIT');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return 'postgres was not ready in time';
    }
    await sleep(POLL_MS);
  }
  return ends[0] ?? null;
}

/** The last lines written since the file had this size. */
async function linesFrom(log: FileHandle, size: number): Promise<string> {
  const { size: now } = await log.stat();
  const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(Math.max(now - size, 1)), position: size });
  const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
  return lines.slice(-TOLD_LINES).join('\n');
}
