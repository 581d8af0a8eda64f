/**
 * A full disk: PostgreSQL lies on a small tmpfs in a mount namespace of its own, so that nothing is left mounted whoever
 * is killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../support/command.ts';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { runSealer } from '../../src/audit/seals/sealer.ts';
import { Pool } from '../../src/db/pool.ts';
import { areWritesRefused, noteRoom } from '../../src/db/refused-writes.ts';
import { isUnavailable } from '../../src/db/unavailable.ts';
import { runHeartbeat } from '../../src/main/operations/heartbeat.ts';
import { connectTo } from '../support/connect.ts';
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

const metricsUrl = (lines: readonly string[]) =>
  /"url":"(http:[^"]+)","msg":"metrics/.exec(lines.join('\n'))?.[1] ?? '';

/** The poller says so wherever somebody looks, and so does the doctor, a process of its own. */
async function expectToBeTold(databaseUrl: string, metrics: string): Promise<void> {
  const scrape = async (path: string) => (await fetch(`${metrics}${path}`)).text();
  await expect.poll(() => scrape('/metrics')).toMatch(/^carteiro_database_takes_writes 0$/m);
  const [text, ready] = [await scrape('/metrics'), await scrape('/readyz')];
  expect(text).toMatch(/^carteiro_database_up 1$/m);
  expect(text).toMatch(/^carteiro_deliveries_oldest_overdue_seconds\{waits_for="cap"\} 0$/m);
  expect(ready).toContain('o disco está cheio');
  const env = { DATABASE_URL: databaseUrl, SANDBOX: 'true', SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
  const { code, stdout } = await runCommand(['doctor', '--json'], env);
  const { findings } = JSON.parse(stdout) as { findings: { about: string; verdict: string; found: string }[] };
  expect([code, findings.filter(({ about }) => about === 'writes')]).toMatchObject([
    1,
    [{ verdict: 'fault', found: 'the disk of the server is full' }],
  ]);
}

/** An API that nobody asks for a write, and a sealer, whose COPY fails with a word of the driver's. */
async function expectIdleApiAndSealerToKnow(pool: Pool): Promise<void> {
  noteRoom();
  const stopping = new AbortController();
  const self = { name: 'idle', role: 'api', host: 'here', keys: [] } as const;
  const beating = runHeartbeat({ pool, log: silentLog, self, readCertificates: async () => ({}) }, stopping.signal);
  await expect.poll(areWritesRefused).toBe(true);
  const reported = Promise.withResolvers<string>();
  const report = (fields: object, message: string) => reported.resolve(`${message} ${JSON.stringify(fields)}`);
  const log = { ...silentLog, warn: report, error: report };
  const sealing = runSealer({ pool, log, signers: [] }, stopping.signal);
  expect(await reported.promise).toMatch(/No space left on device/);
  stopping.abort();
  await Promise.all([beating, sealing]);
}

test('a full disk gives errors and loses nothing, and deliveries go on by themselves when it has room', async () => {
  const folder = await makeTestFolder();
  const server = startOnSmallDisk(folder.path);
  const exited = once(server, 'exit');
  const url = await firstLine(server, exited);
  const disk = `/proc/${server.pid}/root${folder.path}`;
  await migrate(url, silentLog);
  const sql = connectTo(url);
  const receiver = await startReceiver();
  receiver.answerWith(status(200, '', { delayMs: 5 }));
  const partnerId = await insertPartner(sql);
  for (let index = 0; index < 8; index += 1) await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/${index}`);
  const poller = await startPollerProcess(url);
  const pool = new Pool({ url, name: 'core', max: 2, deadlineMs: 10_000 });

  // A server without room for its next segment of WAL goes down: what this test writes fits into the one begun here.
  await sql`select pg_switch_wal()`;
  await sql`checkpoint`;
  await sql`create table public.payments (n int generated always as identity)`;
  // A core's transaction: its own row, and the events.
  const commit = (): Promise<void> =>
    pool.transaction(async (tx) => {
      await tx`insert into public.payments default values`;
      await commitEvents(tx as never, partnerId, 50);
    });
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
  expect(refusals.every(isUnavailable)).toBe(true);
  const words = { code: '53100', message: expect.stringContaining('No space left on device') as string };
  for (const refusal of refusals as Error[]) expect(refusal.cause ?? refusal).toMatchObject(words);
  await expectToBeTold(url, metricsUrl(poller.lines));
  await expectIdleApiAndSealerToKnow(pool);
  await execute('rm', [`${disk}/ballast`]);
  const freedAtMs = performance.now();

  await commit();
  committed += 1;
  await expect.poll(async () => (await fetch(`${metricsUrl(poller.lines)}/readyz`)).status).toBe(200);
  const expected = committed * 50 * 8;
  for (;;) {
    const [row] = await sql<[{ n: number }]>`select count(*)::int as n from deliveries where status = 'entregue'`;
    if (row.n >= expected) break;
    await sleep(50);
  }
  const [counts] = await sql`
    select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from attempts) as attempts,
           (select count(*)::int from attempts where outcome = 'desconhecido') as lost,
           (select count(*)::int from events) as events, (select count(*)::int from public.payments) as payments`;
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
    payments: committed,
  });
  expect(new Set(receiver.posts.map((post) => post.headers['x-webhook-delivery'])).size).toBe(expected);
  expect(await poller.end('SIGTERM')).toBe(0);
  await Promise.all([pool.close(1), sql.end({ timeout: 1 }), receiver.close()]);
  server.stdin?.end();
  await exited;
});
