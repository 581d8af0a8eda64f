/**
 * One PostgreSQL cluster in a folder: made once, started and stopped as often as wanted. Callers exclude each other
 * (embedded.ts holds a lock); nothing here survives two at a time.
 *
 * Invariant: the folder `postgres` exists only complete. It is made under another name and renamed, so whoever is killed
 * in the middle leaves rubbish under a name that nobody reads and the next one sweeps. Password and port lie in it, so
 * that they can never belong to another cluster than the one beside them.
 * After `kill -9` of the server its postmaster.pid stays, and the number in it may be anybody's by now, even a zombie's.
 * PostgreSQL then refuses to start, so the file is removed when that process does not live in the cluster's folder.
 * pg_ctl starts the server in a session of its own: a Ctrl-C ends us, and PostgreSQL only when the last of us says so.
 */
import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { chooseOwner, runProgram, type Owner } from './embedded-programs.ts';

const USER = 'carteiro';
const START_TIMEOUT_MS = 60_000;
const START_ATTEMPTS = 8;
/** Below the range from which systems take the local ports of outgoing connections, so a stopped server keeps its own. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;

const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200' };

export interface Cluster {
  /** Holds PostgreSQL's `data`, the `password`, the last `port` and `server.log`. */
  readonly folder: string;
  readonly data: string;
  readonly password: string;
  readonly owner: Owner | undefined;
}

/** The cluster under `home`, made first when there is none. `settings` are those of postgresql.conf for a new one. */
export async function openCluster(home: string, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const folder = join(home, 'postgres');
  await sweepUnfinished(home);
  const known = await findCluster(home);
  if (known) return known;
  await makeCluster(home, folder, { ...SETTINGS, ...settings });
  return openCluster(home);
}

/** The cluster under `home`, if there is one. */
export async function findCluster(home: string): Promise<Cluster | undefined> {
  const folder = join(home, 'postgres');
  const status = await stat(folder).catch(() => undefined);
  if (!status) return undefined;
  const owner = process.getuid?.() === 0 ? { uid: status.uid, gid: status.gid } : undefined;
  const password = await readFile(join(folder, 'password'), 'utf8');
  return { folder, data: join(folder, 'data'), password, owner };
}

async function sweepUnfinished(home: string): Promise<void> {
  const unfinished = (await readdir(home)).filter((name) => name.startsWith('postgres.new-'));
  for (const name of unfinished) {
    // An initdb that outlived its parent may still be writing there; then the next start sweeps.
    await rm(join(home, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function makeCluster(home: string, folder: string, settings: Record<string, string>): Promise<void> {
  const owner = await chooseOwner();
  const unfinished = join(home, `postgres.new-${randomBytes(6).toString('hex')}`);
  const passwordFile = join(unfinished, 'password');
  const data = join(unfinished, 'data');
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  await mkdir(data, { mode: 0o700 });
  if (owner) for (const path of [unfinished, passwordFile, data]) await chown(path, owner.uid, owner.gid);
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['--username', USER, '--auth=scram-sha-256', '--pwfile', passwordFile];
  await runProgram('initdb', ['--pgdata', data, ...locale, ...access], owner);
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(data, 'postgresql.conf'), lines.join(''));
  await rename(unfinished, folder);
  await syncFolder(home);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The URL of `database` on the cluster's server at `port`. */
export function clusterUrl(cluster: Cluster, port: number, database: string): string {
  return `postgres://${USER}:${cluster.password}@127.0.0.1:${port}/${database}`;
}

/** Uses the server that runs, or starts one. Returns its port when it answers. */
export async function ensureRunning(cluster: Cluster): Promise<number> {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  const failures: unknown[] = [];
  while (performance.now() < giveUpAt && failures.length < START_ATTEMPTS) {
    const port = await findServer(cluster);
    if (port !== undefined && (await answers(cluster, port))) return port;
    if (port === undefined) await startServer(cluster).catch((error: unknown) => failures.push(error));
    // It is starting or stopping, or the processes of a killed one are still leaving.
    if (port !== undefined || failures.length > 0) await sleep(100);
  }
  const log = await readFile(join(cluster.folder, 'server.log'), 'utf8').catch(() => '');
  const tail = log.split('\n').slice(-12).join('\n');
  throw new Error(`PostgreSQL in ${cluster.folder} does not start:\n${tail}`, { cause: failures.at(-1) });
}

/** Stops the server: `fast` ends its sessions and writes everything, `immediate` is a crash on purpose. */
export async function stopServer(cluster: Cluster, mode: 'fast' | 'immediate'): Promise<void> {
  if ((await findServer(cluster)) === undefined) return;
  await runProgram('pg_ctl', ['stop', '--pgdata', cluster.data, '--mode', mode, '--timeout', '60'], cluster.owner);
}

/** The port of the cluster's living server; 0 while it has not said which. */
async function findServer(cluster: Cluster): Promise<number | undefined> {
  const pidFile = join(cluster.data, 'postmaster.pid');
  const written = await readFile(pidFile, 'utf8').catch(() => undefined);
  if (written === undefined) return undefined;
  const [pid = '', , , port = ''] = written.split('\n');
  if (await livesIn(Number(pid), cluster.data)) return Number(port);
  if (isTaken(Number(pid))) await rm(pidFile, { force: true });
  return undefined;
}

/** True when the process is a PostgreSQL server of this folder, which is its working directory. */
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

function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

async function answers(cluster: Cluster, port: number): Promise<boolean> {
  if (port === 0) return false;
  const sql = postgres(clusterUrl(cluster, port, 'postgres'), {
    max: 1,
    connect_timeout: 3,
    onnotice: () => undefined,
  });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function startServer(cluster: Cluster): Promise<void> {
  const port = await choosePort(cluster);
  const log = join(cluster.folder, 'server.log');
  await runProgram(
    'pg_ctl',
    ['start', '--wait', '--timeout', '60', '--pgdata', cluster.data, '--log', log, '--options', `-p ${port}`],
    cluster.owner,
  );
}

/** The port of the last time, so that a URL stays good over a restart, or another when somebody took it. */
async function choosePort(cluster: Cluster): Promise<number> {
  const file = join(cluster.folder, 'port');
  const last = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (last > 0 && (await isFree(last))) return last;
  for (;;) {
    const port = FIRST_PORT + (randomBytes(2).readUInt16BE() % PORTS);
    if (!(await isFree(port))) continue;
    await writeFile(file, String(port));
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  return promise;
}
