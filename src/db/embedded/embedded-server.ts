/**
 * The server of a cluster, started and stopped by its owner (embedded.ts holds a lock). It runs in its own session: Ctrl-C ends us, and we
 * stop PostgreSQL. A start that fails or is given up leaves no server.
 * Crash: after `kill -9` postmaster.pid stays. Its number may belong to any process by now, and PostgreSQL refuses to start. So the file is
 * removed unless that process lives in the cluster's folder. A starting server creates the file empty, writes its number a moment later,
 * and shuts down if the file is removed. So an empty file is removed only when it is old.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { constants, type FileHandle, open, readFile, readlink, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Address, choosePort, findLoopback, hostOf } from './embedded-address.ts';
import type { Cluster } from './embedded-cluster.ts';
import { adviceOn, startProgram } from './embedded-programs.ts';

const START_TIMEOUT_MS = 60_000;
const START_ATTEMPTS = 12;
/** After this a stop becomes a crash. */
const STOP_TIMEOUT_MS = 60_000;
const CRASH_TIMEOUT_MS = 10_000;
/** An empty postmaster.pid of this age belongs to no starting server. */
const EMPTY_FOR_MS = 10_000;
const POLL_MS = 50;
const MAX_LINES = 12;

interface Server {
  readonly pid: number;
  /** Port 0 while unknown. */
  readonly address: Address;
  readonly isReady: boolean;
}

/** Uses the running server or starts one. Returns its address. A start that fails or is given up leaves no server. */
export async function ensureRunning(cluster: Cluster, stopping?: AbortSignal): Promise<Address> {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  const failures: Error[] = [];
  let started: Started | null = null;
  for (;;) {
    const server = await findServer(cluster);
    if (server?.isReady) {
      // From here on this process may end before the server does.
      started?.child.removeAllListeners().unref();
      await started?.log.close();
      return server.address;
    }
    if (started?.failure !== undefined) {
      failures.push(started.failure);
      started = null;
    }
    if (stopping?.aborted || performance.now() > giveUpAt || failures.length >= START_ATTEMPTS) break;
    // Where one is there, it is starting or stopping.
    if (started === null && server === undefined) started = await startServer(cluster);
    await sleep(POLL_MS);
  }
  started?.child.kill('SIGQUIT');
  await started?.ended;
  stopping?.throwIfAborted();
  throw new Error(`PostgreSQL in ${cluster.folder} does not start`, { cause: failures.at(-1) });
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
      // It ended between the check and the signal.
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
  // Where no process has the number, PostgreSQL judges the file: it does not start beside a killed server's sessions.
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

interface Started {
  readonly child: ChildProcess;
  readonly log: FileHandle;
  readonly ended: Promise<void>;
  failure?: Error;
}

async function startServer(cluster: Cluster): Promise<Started> {
  const listens = await findLoopback();
  const port = await choosePort(cluster.folder, listens);
  // No symbolic link is followed: as root we would write wherever the cluster's owner likes.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const log = await open(join(cluster.folder, 'server.log'), flags, 0o600);
  const { size } = await log.stat();
  const args = ['-D', cluster.data, '-p', String(port), '-c', `listen_addresses=${listens}`];
  const child = await startProgram('postgres', args, cluster.owner, log.fd);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const started: Started = { child, log, ended };
  const onEnd = async (why: string) => {
    const output = await linesFrom(log, size);
    started.failure = new Error(`${why}${adviceOn(output, cluster.owner)}${output === '' ? '' : `:\n${output}`}`);
    await log.close();
    resolve();
  };
  child.once('error', (error) => void onEnd(error.message));
  child.once('exit', (code, signal) => void onEnd(`postgres ended with ${signal ?? code}`));
  return started;
}

/** The last lines written since the file had this size. */
async function linesFrom(log: FileHandle, size: number): Promise<string> {
  const { size: now } = await log.stat();
  const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(Math.max(now - size, 1)), position: size });
  const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
  return lines.slice(-MAX_LINES).join('\n');
}
