/** The embedded PostgreSQL in folders and on hosts that are not as one would like them. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { stopOrphan } from '../support/stop-orphan.ts';
import { reasonOf } from '../../src/main/reason.ts';
import { silentLog } from '../support/silent-log.ts';
import { makeTestFolder, type TestFolder } from '../support/test-folder.ts';

const JOIN = resolve(import.meta.dirname, '../support/join-embedded.ts');
const MAIN = resolve(import.meta.dirname, '../../src/main.ts');
/** Networks and mounts of one's own, seen by the test's children alone. */
const canIsolate =
  process.getuid?.() === 0 &&
  spawnSync('env', ['unshare', '--net', '--mount', 'sh', '-c', 'ip link set lo up && mount -t tmpfs tmpfs /mnt'])
    .status === 0;
if (!canIsolate) console.log('hosts: skipped in part, for no network and mount of its own can be made here');

let folder: TestFolder;
let home: string;

beforeEach(async () => {
  folder = await makeTestFolder();
  home = join(folder.path, 'data');
  await mkdir(home);
});

afterEach(() => stopOrphan(home));

async function refusalOf(dataDir: string): Promise<string> {
  return startEmbedded(dataDir, silentLog).then(
    ({ leave }) => leave().then(() => 'it started'),
    (error: unknown) => reasonOf(error),
  );
}

/** Runs a shell script in a network and a mount of its own; it has node, the program to join with, and the folder. */
function isolate(script: string): ChildProcessWithoutNullStreams {
  const args = ['--net', '--mount', 'sh', '-c', script, 'sh', process.execPath, JOIN, home];
  return spawn('env', ['unshare', ...args], { env: { PATH: process.env['PATH'], DATA_DIR: home, PORT: '0', MAIN } });
}

async function finish(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; printed: string }> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, printed };
}

describe('the embedded PostgreSQL', () => {
  it('lies in a folder whose name a shell would run', async () => {
    const dataDir = join(home, 'it\'s "$(echo run)" `echo run` $HOME; x');
    await mkdir(dataDir);
    const { leave } = await startEmbedded(dataDir, silentLog);
    const pid = await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8');
    expect(pid.split('\n')[1]).toBe(join(dataDir, 'postgres/data'));
    await leave();
  });

  it('made by another PostgreSQL says how to go on', async () => {
    const { leave } = await startEmbedded(home, silentLog);
    await leave();
    const version = join(home, 'postgres/data/PG_VERSION');
    await writeFile(version, '17\n');
    const older = await refusalOf(home);
    expect(older).toMatch(/made by PostgreSQL 17.*brings 18.*pg_dump.*To begin anew: move/);
    await writeFile(version, '19\n');
    expect(await refusalOf(home)).toMatch(/made by PostgreSQL 19.*start a newer Carteiro/);
  });

  it('that does not start tells the reason of this start, and no older one', async () => {
    const { leave } = await startEmbedded(home, silentLog);
    await leave();
    await appendFile(join(home, 'postgres/server.log'), 'an old story\n');
    await appendFile(join(home, 'postgres/data/postgresql.conf'), 'bogus = 1\n');
    const reason = await refusalOf(home);
    expect(reason).toContain('because: postgres ended with 1');
    expect(reason).toContain('unrecognized configuration parameter "bogus"');
    expect(reason).not.toContain('an old story');
  });

  it('is told no secret of ours', { skip: process.platform !== 'linux' }, async () => {
    const child = spawn(process.execPath, [JOIN, home], { env: { PATH: process.env['PATH'], SECRETS_KEY: 'secret' } });
    await once(createInterface(child.stdout), 'line');
    const [pid = ''] = (await readFile(join(home, 'postgres/data/postmaster.pid'), 'utf8')).split('\n');
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('secret');
    child.stdin.end();
    await once(child, 'close');
  });

  it('gives a start up when told so, and leaves no server', async () => {
    const stop = new AbortController();
    stop.abort(new Error('told to stop'));
    await expect(startEmbedded(home, silentLog, { stopping: stop.signal })).rejects.toThrow('told to stop');
  });
});

describe.skipIf(!canIsolate)('the embedded PostgreSQL on a host of its own', () => {
  it('listens on the IPv6 loopback where there is no other', async () => {
    const child = isolate('ip link set lo up && ip addr del 127.0.0.1/8 dev lo && exec "$@"');
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
    expect(new URL(url).hostname).toBe('[::1]');
    const left = finish(child);
    child.stdin.end();
    expect(await left).toEqual({ code: 0, printed: '' });
  });

  it('says so where there is no loopback at all', async () => {
    const child = isolate('ip link set lo up && ip addr flush dev lo && exec "$@"');
    child.stdin.end();
    const { code, printed } = await finish(child);
    expect([code, printed]).toEqual([1, expect.stringMatching(/no loopback address.*EADDRNOTAVAIL/s)]);
  });

  it('on a disk that is full at the first start tells so, and leaves no server', async () => {
    const script =
      'mount -t tmpfs -o size=40m,mode=0700 tmpfs "$3" && ip link set lo up && "$@"; code=$?; cat "$3/postgres/data/postmaster.pid"; exit $code';
    const { code, printed } = await finish(isolate(script));
    expect(code).toBe(1);
    expect(printed).toMatch(/(No space left on device|could not extend file)[^]*postmaster\.pid.*No such file/);
  });

  it('in a folder that cannot be written says why, in the words of the system', async () => {
    const script = 'mount -t tmpfs -o ro tmpfs "$3" && exec "$1" "$MAIN" start';
    const { code, printed } = await finish(isolate(script));
    expect(code).toBe(1);
    expect(printed).toMatch(/DATA_DIR: .* must be a folder that we may write to\n {2}because: EROFS: read-only file/);
  });
});
