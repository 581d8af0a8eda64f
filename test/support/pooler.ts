/** The real PgBouncer: `PGBOUNCER` names another one than the system's. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endOf } from './ends.ts';
import { freePorts } from './free-ports.ts';
import { makeTestFolder } from './test-folder.ts';

const PGBOUNCER = process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer';
const version = /PgBouncer 1\.(\d+)/.exec(String(spawnSync(PGBOUNCER, ['--version']).stdout))?.[1];
if (version === undefined) console.info(`skipped: there is no ${PGBOUNCER} (apt-get install pgbouncer)`);
/** 24 of PgBouncer 1.24.1; undefined where there is none. */
export const PGBOUNCER_MINOR = version === undefined ? undefined : Number(version);
/** PgBouncer refuses to run as root: Debian's `nobody`. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface PoolerOptions {
  /** The database's URL. */
  readonly target: string;
  /** Passwords by login. */
  readonly users: Readonly<Record<string, string>>;
  /** Lines of its section `[pgbouncer]`. */
  readonly settings: readonly string[];
}

export interface Pooler {
  urlOf(login: string): string;
  stop(): Promise<void>;
}

export async function startPooler({ target, users, settings }: PoolerOptions): Promise<Pooler> {
  const { hostname, port, pathname } = new URL(target);
  const [listenPort = 0] = await freePorts(1);
  const home = await makeTestFolder();
  const [list, ini] = ['users.txt', 'pgbouncer.ini'].map((name) => join(home.path, name)) as [string, string];
  await writeFile(
    list,
    Object.entries(users)
      .map(([login, password]) => `"${login}" "${password}"\n`)
      .join(''),
  );
  const place = ['listen_addr = 127.0.0.1', `listen_port = ${listenPort}`, 'unix_socket_dir ='];
  const databases = ['[databases]', `${pathname.slice(1)} = host=${hostname} port=${port}`, '[pgbouncer]'];
  const rest = [`auth_file = ${list}`, 'auth_type = scram-sha-256'];
  await writeFile(ini, [...databases, ...settings, ...place, ...rest].join('\n'));
  if (NOBODY.uid !== undefined) {
    await chmod(home.path, 0o755);
    await chown(list, NOBODY.uid, NOBODY.gid);
  }
  const child = spawn(PGBOUNCER, [ini], { ...NOBODY, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('process up')) resolve();
    });
    child.on('error', reject);
    void exited.then(() => reject(new Error(`pgbouncer ended: ${lines.join('\n')}`)));
  });
  return {
    urlOf: (login) => `postgres://${login}:${users[login]}@127.0.0.1:${listenPort}${pathname}`,
    stop: endOf(async () => {
      child.kill('SIGINT');
      await exited;
    }),
  };
}
