/**
 * The files of one PostgreSQL cluster in a folder. Callers exclude each other by a lock (embedded.ts).
 * Invariant: the folder `postgres` exists only when it is complete: it is made under another name and renamed. Password and port lie in it,
 * so they belong to its cluster.
 * Crash: an unfinished folder is never read, and the next process deletes it.
 */
import { randomBytes } from 'node:crypto';
import { appendFile, chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from './embedded-address.ts';
import { chooseOwner, runProgram, type Owner } from './embedded-programs.ts';

const USER = 'carteiro';
/** The major version of the installed programs. */
const OUR_MAJOR = 18;

const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200' };

export interface Cluster {
  /** Holds PostgreSQL's `data`, the `password`, the last `port` and `server.log`. */
  readonly folder: string;
  readonly data: string;
  readonly password: string;
  readonly owner: Owner | undefined;
}

/**
 * The cluster under `home`, created when missing with `settings` in postgresql.conf. Throws when another major version of PostgreSQL made
 * it.
 */
export async function openCluster(
  home: string,
  settings: Readonly<Record<string, string>> = {},
  stopping?: AbortSignal,
): Promise<Cluster> {
  const folder = join(home, 'postgres');
  await sweepUnfinished(home);
  const known = await findCluster(home);
  if (known) {
    await refuseOtherMajor(known);
    return known;
  }
  await makeCluster(home, folder, { ...SETTINGS, ...settings }, stopping);
  return openCluster(home);
}

async function refuseOtherMajor({ folder, data }: Cluster): Promise<void> {
  const major = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
  if (major === String(OUR_MAJOR)) return;
  const said = `${folder} was made by PostgreSQL ${major}, and this version of Carteiro brings ${OUR_MAJOR}`;
  if (Number(major) > OUR_MAJOR) throw new Error(`${said}: start a newer Carteiro, or give another DATA_DIR`);
  throw new Error(
    `${said}, which cannot read it. To keep what is in it: start the Carteiro that made it, write a dump with pg_dump, ` +
      `move ${folder} away, start this one and restore the dump. To begin anew: move ${folder} away.`,
  );
}

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
    // An initdb that outlived its parent may still be writing; the next start deletes its folder.
    await rm(join(home, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function makeCluster(
  home: string,
  folder: string,
  settings: Record<string, string>,
  stopping: AbortSignal | undefined,
): Promise<void> {
  const owner = await chooseOwner();
  const unfinished = join(home, `postgres.new-${randomBytes(6).toString('hex')}`);
  try {
    await fillCluster(unfinished, settings, owner, stopping);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(home);
}

async function fillCluster(
  unfinished: string,
  settings: Record<string, string>,
  owner: Owner | undefined,
  stopping: AbortSignal | undefined,
): Promise<void> {
  const passwordFile = join(unfinished, 'password');
  const data = join(unfinished, 'data');
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  await mkdir(data, { mode: 0o700 });
  if (owner) for (const path of [unfinished, passwordFile, data]) await chown(path, owner.uid, owner.gid);
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['--username', USER, '--auth=scram-sha-256', '--pwfile', passwordFile];
  await runProgram('initdb', ['--pgdata', data, ...locale, ...access], owner, stopping);
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(data, 'postgresql.conf'), lines.join(''));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function clusterUrl(cluster: Cluster, { host, port }: Address, database: string): string {
  return `postgres://${USER}:${cluster.password}@${host}:${port}/${database}`;
}
