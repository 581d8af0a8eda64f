/** Each long-running command in a real terminal, with npm between: what a person presses, and what is left behind. */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { silentLog } from '../support/silent-log.ts';
import { stopOrphan } from '../support/stop-orphan.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';
import { CTRL_BACKSLASH, CTRL_C, openTerminal, type Terminal, terminalOpener } from '../support/terminal.ts';
import { makeTestFolder, type TestFolder } from '../support/test-folder.ts';

if (terminalOpener === null) console.log("terminals: skipped, for there is neither util-linux's script nor python3");

let folder: TestFolder;
let dataDir: string;
let env: Record<string, string>;
let terminals: Terminal[];

beforeEach(async () => {
  folder = await makeTestFolder();
  dataDir = join(folder.path, 'data');
  await mkdir(dataDir);
  // The key that the tests' webhooks are sealed with, as a sandbox keeps its own.
  await writeFile(join(dataDir, 'secrets-key'), Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
  env = { DATA_DIR: dataDir, PORT: '0', TMPDIR: folder.path };
  terminals = [];
});

afterEach(async () => {
  await Promise.all(terminals.map((terminal) => terminal.close()));
  await stopOrphan(dataDir);
});

function open(command: string, more: Record<string, string> = {}): Terminal {
  const terminal = openTerminal(command, { ...env, ...more });
  terminals.push(terminal);
  return terminal;
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

async function serverOf(home: string): Promise<number> {
  const [pid = ''] = (await readFile(join(home, 'postgres/data/postmaster.pid'), 'utf8')).split('\n');
  return Number(pid);
}

/** A zombie that nobody waits for is gone. */
function lives(pid: number): boolean {
  try {
    return !/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux' && process.kill(pid, 0);
  }
}

async function databaseUrl(): Promise<string> {
  const [password, port] = await Promise.all(
    ['password', 'port'].map((name) => readFile(join(dataDir, 'postgres', name), 'utf8')),
  );
  return `postgres://carteiro:${password}@127.0.0.1:${port}/carteiro`;
}

const STARTED = { start: /desembolso/, api: /the API listens/, poll: /the poller delivers/ } as const;
const COMMANDS = { start: 'npm start', api: 'npm run cli -- api', poll: 'npm run poll' } as const;
const NAMES = ['start', 'api', 'poll'] as const;

describe.skipIf(terminalOpener === null)('in a terminal, with npm between', () => {
  test.each(NAMES)('one Ctrl-C drains `%s`; PostgreSQL is stopped by `start` alone', async (name) => {
    // The others find the server that somebody runs in the folder.
    const owner = name === 'start' ? null : await startEmbedded(dataDir, silentLog);
    if (owner !== null) await migrate(owner.url, silentLog);
    const terminal = open(COMMANDS[name]);
    await terminal.until(STARTED[name]);
    const server = await serverOf(dataDir);
    terminal.press(CTRL_C);
    await terminal.ended;
    expect(count(terminal.shown(), 'draining: no new work')).toBe(1);
    expect(terminal.shown()).toMatch(/draining for 0 s[^]*"msg":"stopped"/);
    expect(terminal.shown()).not.toContain('without draining');
    expect(lives(server)).toBe(name !== 'start');
    await owner?.leave();
  });

  test('what is in flight at the Ctrl-C is finished, and no POST leaves twice', async () => {
    const receiver = await startReceiver();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    receiver.answerWith((_post, response) => void released.then(() => response.writeHead(200).end()));
    const terminal = open(COMMANDS.start);
    await terminal.until(STARTED.start);
    const sql = postgres(await databaseUrl(), { max: 1, onnotice: () => undefined });
    const partnerId = await insertPartner(sql);
    await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/`);
    await commitEvents(sql, partnerId, 5);
    await sql.end();
    await receiver.received(5);
    terminal.press(CTRL_C);
    await terminal.until(/deliveries in flight: 5/);
    release();
    await terminal.ended;
    expect(terminal.shown()).toContain('"msg":"stopped"');

    const again = open(COMMANDS.start);
    await again.until(STARTED.start);
    const after = postgres(await databaseUrl(), { max: 1, onnotice: () => undefined });
    const rows = await after`
      select (select count(*)::int from deliveries where status = 'entregue') as delivered,
        (select count(*)::int from attempts) as attempts`;
    await after.end();
    expect([...rows, receiver.posts.length]).toEqual([{ delivered: 5, attempts: 5 }, 5]);
    again.press(CTRL_C);
    await again.ended;
  });

  test('a Ctrl-C that is meant leaves at once what is in flight, and stops PostgreSQL all the same', async () => {
    const receiver = await startReceiver();
    receiver.answerWith(() => undefined);
    const terminal = open(COMMANDS.start);
    await terminal.until(STARTED.start);
    const sql = postgres(await databaseUrl(), { max: 1, onnotice: () => undefined });
    const partnerId = await insertPartner(sql);
    await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/`);
    await commitEvents(sql, partnerId, 1);
    await sql.end();
    await receiver.received(1);
    const server = await serverOf(dataDir);
    terminal.press(CTRL_C);
    await terminal.until(/draining for [2-9] s, deliveries in flight: 1/);
    terminal.press(CTRL_C);
    expect(await terminal.ended).not.toBe(0);
    expect(terminal.shown()).toContain('SIGINT came again');
    expect(lives(server)).toBe(false);
  });

  test('closing the terminal drains, though nothing can be written any more', async () => {
    const terminal = open(`${COMMANDS.start} 2>${join(folder.path, 'lines')}`);
    await terminal.until(STARTED.start);
    const server = await serverOf(dataDir);
    const [, pid = ''] = /"pid":(\d+)/.exec(await readFile(join(folder.path, 'lines'), 'utf8')) ?? [];
    await terminal.close();
    while (lives(Number(pid))) await sleep(20);
    expect(await readFile(join(folder.path, 'lines'), 'utf8')).toMatch(/SIGHUP[^]*"msg":"stopped"/);
    expect(lives(server)).toBe(false);
  });

  test('closing the terminal that the log goes to drains as well', async () => {
    const terminal = open(COMMANDS.start);
    const [, pid = ''] = /"pid":(\d+)/.exec(await terminal.until(STARTED.start)) ?? [];
    const server = await serverOf(dataDir);
    await terminal.close();
    while (lives(Number(pid))) await sleep(20);
    expect(lives(server)).toBe(false);
  });

  test('Ctrl-\\ drains, though npm is gone at once', async () => {
    const terminal = open(`${COMMANDS.start} 2>${join(folder.path, 'lines')}`);
    await terminal.until(STARTED.start);
    const server = await serverOf(dataDir);
    const [, pid = ''] = /"pid":(\d+)/.exec(await readFile(join(folder.path, 'lines'), 'utf8')) ?? [];
    terminal.press(CTRL_BACKSLASH);
    await terminal.ended;
    while (lives(Number(pid))) await sleep(20);
    expect(await readFile(join(folder.path, 'lines'), 'utf8')).toMatch(/SIG(QUIT|HUP)[^]*"msg":"stopped"/);
    expect(lives(server)).toBe(false);
  });
});

describe('what is left behind', () => {
  test('by a command that is interrupted while it starts or works is nothing', async () => {
    const starting = startCommand(['start'], env);
    while (!(await readdir(dataDir).catch(() => [])).some((name) => name.startsWith('postgres.new-'))) await sleep(1);
    const { code } = await starting.end('SIGTERM');
    expect(code).toBe(0);
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);
    const job = await runCommand(['rebuild'], env);
    expect([job.code, job.stderr]).toEqual([3, expect.stringContaining('let npm start run beside this')]);
    await expect(serverOf(dataDir)).rejects.toThrow('ENOENT');
  });
});
