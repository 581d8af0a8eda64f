/**
 * A full disk: PostgreSQL lies on a small tmpfs in a mount namespace of its own, so that nothing is left mounted whoever
 * is killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { Pool } from '../../src/db/pool.ts';
import { isUnavailable } from '../../src/db/unavailable.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const JOIN = path.resolve(import.meta.dirname, '../support/join-embedded.ts');
const execute = promisify(execFile);

/** Mounts a tmpfs over `folder`, seen by the server and its children alone. Not root: first becomes one of its own. */
function startOnSmallDisk(folder: string): ChildProcess {
  const asRoot = process.getuid?.() === 0;
  const back = asRoot ? 'exec' : `exec unshare --user --map-user=${process.getuid?.()} --`;
  const script = `mount -t tmpfs -o size=128m,mode=0700 tmpfs "$1" && ${back} "$2" "$3" "$1"`;
  const namespaces = asRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  return spawn('env', ['unshare', ...namespaces, 'sh', '-c', script, 'sh', folder, process.execPath, JOIN], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** What it prints first; throws when it leaves without a word. */
async function firstLine({ stdout }: ChildProcess, exited: Promise<unknown[]>): Promise<string> {
  if (!stdout) throw new Error('the server did not start');
  const [said] = await Promise.race([once(stdout, 'data'), exited]);
  if (Buffer.isBuffer(said)) return said.toString().trim();
  throw new Error('no tmpfs can be mounted here: run this as root, or where users may make namespaces');
}

async function fill(disk: string, leaveBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(disk);
  await execute('fallocate', ['-l', String(Math.max(bavail * bsize - leaveBytes, 4_096)), `${disk}/ballast`]);
}

test(
  'a full disk gives errors and loses nothing, and deliveries go on by themselves when it has room',
  { timeout: 600_000 },
  async (context) => {
    const folder = await makeTestFolder();
    context.onTestFinished(() => folder.remove());
    const server = startOnSmallDisk(folder.path);
    const exited = once(server, 'exit');
    const url = await firstLine(server, exited);
    const disk = `/proc/${server.pid}/root${folder.path}`;
    await migrate(url, silentLog);
    const sql = postgres(url, { max: 1, onnotice: () => undefined, connection: { search_path: 'carteiro' } });
    const receiver = await startReceiver();
    receiver.answerWith(status(200, '', { delayMs: 5 }));
    const partnerId = await insertPartner(sql);
    for (let index = 0; index < 8; index += 1) await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/${index}`);
    const poller = await startPollerProcess(url);
    const pool = new Pool({ url, name: 'core', max: 2, deadlineMs: 10_000 });

    const commit = (): Promise<void> => pool.transaction((tx) => commitEvents(tx as never, partnerId, 50));
    let committed = 0;
    const refusals: unknown[] = [];
    await fill(disk, 1_000_000);
    while (refusals.length < 5) {
      const error = await commit().then(
        () => (committed += 1) && null,
        (refusal: unknown) => refusal,
      );
      if (error !== null) refusals.push(error);
    }
    await fill(disk, 0).catch(() => undefined);
    await sleep(1_500);
    expect(refusals.every(isUnavailable)).toBe(true);
    await execute('rm', [`${disk}/ballast`]);
    const freedAtMs = performance.now();

    await commit();
    committed += 1;
    const expected = committed * 50 * 8;
    for (;;) {
      const [row] = await sql<[{ n: number }]>`select count(*)::int as n from deliveries where status = 'entregue'`;
      if (row.n >= expected) break;
      await sleep(50);
    }
    const [counts] = await sql`
    select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from attempts) as attempts,
           (select count(*)::int from attempts where outcome = 'desconhecido') as lost,
           (select count(*)::int from events) as events`;
    const healedMs = performance.now() - freedAtMs;
    console.log(
      `full disk: ${refusals.length} commits refused, all of ${expected} delivered ${Math.round(healedMs)} ms after it had room`,
    );
    // None had to wait for the end of a lease: no claim and no report was forgotten.
    expect(counts).toEqual({
      deliveries: expected,
      attempts: receiver.posts.length,
      lost: 0,
      events: committed * 50,
    });
    expect(new Set(receiver.posts.map((post) => post.headers['x-webhook-delivery'])).size).toBe(expected);
    expect(await poller.end('SIGTERM')).toBe(0);
    await Promise.all([pool.close(1), sql.end({ timeout: 1 }), receiver.close()]);
    server.stdin?.end();
    await exited;
  },
);
