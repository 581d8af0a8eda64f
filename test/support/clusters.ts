/** Servers that are copied, promoted and recovered with PostgreSQL's own tools, each in its own folder. */
import { execFile } from 'node:child_process';
import { appendFile, chown, cp, glob, mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { type Cluster, clusterUrl, findCluster, openCluster } from '../../src/db/embedded/embedded-cluster.ts';
import { ensureRunning, stopServer } from '../../src/db/embedded/embedded-server.ts';
import type { Sql } from '../../src/db/pool.ts';
import { endOf } from './ends.ts';
import { makeTestFolder, type TestFolder } from './test-folder.ts';

const SETTINGS = {
  fsync: 'off',
  'carteiro.allow_fsync_off': 'on',
  full_page_writes: 'on',
  max_connections: '60',
  archive_mode: 'on',
  hot_standby: 'on',
};

export interface TestCluster {
  /** An empty database, or the copied one. */
  readonly url: string;
  readonly folder: TestFolder;
  readonly cluster: Cluster;
  /** The folder of its archived WAL. */
  readonly archive: string;
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** Stops it and deletes its folder. */
  remove(): Promise<void>;
}

const execute = promisify(execFile);

/** A new server (about 2 s) with its WAL archived. */
export async function startCluster(settings: Readonly<Record<string, string>> = {}): Promise<TestCluster> {
  const folder = await makeTestFolder();
  const archive = join(folder.path, 'archive');
  await mkdir(archive);
  const own = { ...SETTINGS, archive_command: `cp %p "${archive}/%f"`, ...settings };
  const cluster = await openCluster(folder.path, own);
  if (cluster.owner) for (const path of [archive]) await chown(path, cluster.owner.uid, cluster.owner.gid);
  const address = await ensureRunning(cluster);
  const sql = postgres(clusterUrl(cluster, address, 'postgres'), { max: 1 });
  await sql`create database carteiro`;
  await sql.end();
  return running(folder, cluster, archive);
}

async function running(folder: TestFolder, cluster: Cluster, archive: string): Promise<TestCluster> {
  const url = clusterUrl(cluster, await ensureRunning(cluster), 'carteiro');
  return {
    url,
    folder,
    cluster,
    archive,
    stop: (mode) => stopServer(cluster, mode),
    start: async () => void (await ensureRunning(cluster)),
    remove: endOf(async () => {
      await stopServer(cluster, 'immediate');
      await folder.remove();
    }),
  };
}

export interface CopyOptions {
  /** `standby.signal` for one that follows, `recovery.signal` for one that recovers to a moment and goes on by itself. */
  readonly signal: 'standby.signal' | 'recovery.signal';
  readonly settings: Readonly<Record<string, string>>;
}

export interface BaseBackup {
  /** Creates a server from the backup and starts it, with its own archive. */
  start(options: CopyOptions): Promise<TestCluster>;
}

/** Copies the folder of a running server, as pg_basebackup does. */
export async function backUp(source: TestCluster): Promise<BaseBackup> {
  const folder = await makeTestFolder();
  const home = join(folder.path, 'postgres');
  const sql = postgres(source.url, { max: 1, onnotice: () => undefined });
  await sql`select pg_backup_start('test', true)`;
  await execute('cp', ['-a', source.cluster.folder, home]);
  const [{ label }] = await sql<[{ label: string }]>`select labelfile as label from pg_backup_stop()`;
  await sql.end();
  await writeFile(join(home, 'data', 'backup_label'), label);
  for (const left of ['port', 'server.log', 'data/postmaster.pid', 'data/postmaster.opts']) {
    await rm(join(home, left), { force: true });
  }
  return {
    async start({ signal, settings }) {
      const archive = join(folder.path, 'archive');
      await mkdir(archive);
      const cluster = (await findCluster(folder.path)) as Cluster;
      const lines = Object.entries({ archive_command: `cp %p "${archive}/%f"`, ...settings });
      const written = lines.map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`).join('');
      await appendFile(join(cluster.data, 'postgresql.conf'), written);
      await writeFile(join(cluster.data, signal), '');
      const owned = [archive, join(cluster.data, 'backup_label'), join(cluster.data, signal)];
      if (cluster.owner) for (const path of owned) await chown(path, cluster.owner.uid, cluster.owner.gid);
      return running(folder, cluster, archive);
    },
  };
}

/** Settings of a standby that streams from `source`. */
export function following(source: TestCluster, name = 'standby'): Record<string, string> {
  const { hostname, port, username, password } = new URL(source.url);
  return {
    primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password} application_name=${name}`,
  };
}

/** Resolves when the standby has replayed all that `primary` has written. */
export async function untilCaughtUp(primary: Sql, standby: Sql): Promise<void> {
  const [{ lsn }] = await primary<[{ lsn: string }]>`select pg_current_wal_lsn()::text as lsn`;
  for (;;) {
    const [{ isThere }] = await standby<[{ isThere: boolean }]>`
      select coalesce(pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn, false) as "isThere"`;
    if (isThere) return;
  }
}

/** Resolves when all WAL written so far is archived. */
export async function finishArchive(source: TestCluster): Promise<void> {
  const sql = postgres(source.url, { max: 1, onnotice: () => undefined });
  const [{ name }] = await sql<[{ name: string }]>`select pg_walfile_name(pg_switch_wal()) as name`;
  for (let isDone = false; !isDone;) {
    [{ isDone }] = await sql<[{ isDone: boolean }]>`
      select coalesce(last_archived_wal >= ${name}, false) as "isDone" from pg_stat_archiver`;
  }
  await sql.end();
}

/** Starts the backup with a copy of its source's archive, and recovers it to that restore point. */
export async function recover(source: TestCluster, backup: BaseBackup, point: string): Promise<TestCluster> {
  const kept = join(source.folder.path, 'kept');
  await cp(source.archive, kept, { recursive: true });
  await execute('chmod', ['-R', 'a+rX', kept]);
  const settings = {
    restore_command: `cp "${kept}/%f" %p`,
    recovery_target_name: point,
    recovery_target_action: 'promote',
  };
  return backup.start({ signal: 'recovery.signal', settings });
}

/** Where .ci/run puts the Python package embedded-postgres, which has all of PostgreSQL's programs. */
const INSTALLED = '.cache/carteiro-postgres/lib/python3*/site-packages/embedded_postgres/pginstall/bin';

/**
 * The programs of PostgreSQL 18's client, found in the folder that PG18_BIN names, in PATH or where .ci/run has put them; null where
 * there are none: older ones refuse to dump an 18 server.
 */
export async function clientTools(): Promise<((program: string, args: readonly string[]) => Promise<void>) | null> {
  const installed = await Array.fromAsync(glob(INSTALLED, { cwd: homedir() }), (found) => join(homedir(), found));
  for (const folder of [process.env['PG18_BIN'] ?? '', ...installed]) {
    const version = await execute(join(folder, 'pg_dump'), ['--version']).catch(() => null);
    if (version?.stdout.includes(') 18'))
      return async (program, args) => void (await execute(join(folder, program), [...args]));
  }
  return null;
}
